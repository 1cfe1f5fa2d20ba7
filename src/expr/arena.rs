//! The hash-consed arena: equal expressions are one.

use crate::base::cancel::glance;
use std::hash::{BuildHasher, Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHasher};

use super::{Args, BinaryOp, ExprId, Function, Node, Real, UnaryOp};

/// The type of the leaves of a shared expression.
pub trait Leaf: Copy + Eq + Hash {}
impl<T: Copy + Eq + Hash> Leaf for T {}

/// Expressions shared by structure. Nodes keep what was written: nothing is folded here, so that
/// a listing of flattened equations shows the user's own form.
#[derive(Clone, Debug)]
pub struct Arena<L> {
    nodes: Vec<Node<L>>,
    args: Vec<ExprId>,
    /// Ids by structure, each with half of its hash. The arena is read only where the hashes agree, and not at all when
    /// the table grows.
    table: HashTable<(u32, u32)>,
}

impl<L> Default for Arena<L> {
    fn default() -> Self {
        Arena {
            nodes: Vec::new(),
            args: Vec::new(),
            table: HashTable::new(),
        }
    }
}

impl<L: Leaf> Arena<L> {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn node(&self, id: ExprId) -> Node<L> {
        self.nodes[id.index()]
    }

    pub fn args(&self, args: Args) -> &[ExprId] {
        &self.args[args.range()]
    }

    /// The number of operands in the pool.
    pub(super) fn pool_len(&self) -> usize {
        self.args.len()
    }

    /// Replaces a node by any other, also by a wrong one: for tests of verifiers.
    #[cfg(test)]
    pub(crate) fn put(&mut self, id: ExprId, node: Node<L>) {
        self.nodes[id.index()] = node;
    }

    pub fn number(&mut self, value: f64) -> ExprId {
        self.share(Node::Number(Real(value)))
    }

    pub fn bool(&mut self, value: bool) -> ExprId {
        self.share(Node::Bool(value))
    }

    pub fn time(&mut self) -> ExprId {
        self.share(Node::Time)
    }

    pub fn leaf(&mut self, leaf: L) -> ExprId {
        self.share(Node::Leaf(leaf))
    }

    pub fn unary(&mut self, op: UnaryOp, a: ExprId) -> ExprId {
        self.share(Node::Unary(op, a))
    }

    pub fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.share(Node::Binary(op, a, b))
    }

    pub fn if_else(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.share(Node::If(condition, then, otherwise))
    }

    pub fn call(&mut self, function: Function, args: &[ExprId]) -> ExprId {
        let args = self.pool(args);
        self.share_pooled(Node::Call(function, args), args)
    }

    pub fn list(&mut self, args: &[ExprId]) -> ExprId {
        let args = self.pool(args);
        self.share_pooled(Node::List(args), args)
    }

    /// Whether any expression contains this leaf.
    pub fn has_leaf(&self, leaf: L) -> bool {
        let node = Node::Leaf(leaf);
        let half = hash_node(&node, &self.args);
        let is_same = |&(id, other): &(u32, u32)| {
            other == half && same(&self.nodes[id as usize], &node, &self.args)
        };
        self.table.find(whole(half), is_same).is_some()
    }

    fn pool(&mut self, args: &[ExprId]) -> Args {
        let first = self.args.len() as u32;
        self.args.extend_from_slice(args);
        Args {
            first,
            len: args.len() as u32,
        }
    }

    /// Interns a node whose operands are at the end of the pool. If the node exists already, they are removed from the
    /// pool.
    fn share_pooled(&mut self, node: Node<L>, args: Args) -> ExprId {
        let before = self.nodes.len();
        let id = self.share(node);
        if self.nodes.len() == before {
            self.args.truncate(args.first as usize);
        }
        id
    }

    fn share(&mut self, node: Node<L>) -> ExprId {
        glance();
        let Arena { nodes, args, table } = self;
        let half = hash_node(&node, args);
        let is_same =
            |&(id, other): &(u32, u32)| other == half && same(&nodes[id as usize], &node, args);
        if let Some(&(id, _)) = table.find(whole(half), is_same) {
            return ExprId(id);
        }
        let id = nodes.len() as u32;
        nodes.push(node);
        table.insert_unique(whole(half), (id, half), |&(_, half)| whole(half));
        ExprId(id)
    }
}

fn same<L: Leaf>(a: &Node<L>, b: &Node<L>, pool: &[ExprId]) -> bool {
    match (a, b) {
        (Node::Call(f, x), Node::Call(g, y)) => f == g && pool[x.range()] == pool[y.range()],
        (Node::List(x), Node::List(y)) => pool[x.range()] == pool[y.range()],
        _ => a == b,
    }
}

/// Half of a hash, to which all bits of the hash contribute. Neither half is good by itself: for words that differ only
/// in their upper bits (numbers, pairs) most of the upper half of rustc-hash is the same, and the lower half loses bits
/// that distinguish others.
fn half(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// Spreads half a hash over all bits, as the table needs them.
fn whole(half: u32) -> u64 {
    u64::from(half).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn hash_node<L: Leaf>(node: &Node<L>, pool: &[ExprId]) -> u32 {
    let mut hasher: FxHasher = FxBuildHasher.build_hasher();
    match *node {
        Node::Number(value) => (0u8, value).hash(&mut hasher),
        Node::Bool(value) => (1u8, value).hash(&mut hasher),
        Node::Time => 2u8.hash(&mut hasher),
        Node::Leaf(leaf) => (3u8, leaf).hash(&mut hasher),
        Node::Unary(op, a) => (4u8, op, a).hash(&mut hasher),
        Node::Binary(op, a, b) => (5u8, op, a, b).hash(&mut hasher),
        Node::If(a, b, c) => (6u8, a, b, c).hash(&mut hasher),
        Node::Call(function, args) => (7u8, function, &pool[args.range()]).hash(&mut hasher),
        Node::List(args) => (8u8, &pool[args.range()]).hash(&mut hasher),
    }
    half(hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use rustc_hash::{FxBuildHasher, FxHashMap};

    use super::{hash_node, whole};
    use crate::expr::{Args, BinaryOp, ExprId, Function, Node, Real};

    const COUNT: u32 = 100_000;
    const POOL: u32 = 2 * COUNT;

    /// How many pairs of these values agree in `bits` bits, and how many would agree for a random function.
    fn pairs(values: &[u64], bits: u32) -> (f64, f64) {
        let mut counts: FxHashMap<u64, u32> = FxHashMap::default();
        for value in values {
            // The map of the test must not depend on what is tested.
            let value = value & (u64::MAX >> (64 - bits));
            *counts.entry(value.swap_bytes() ^ value).or_default() += 1;
        }
        let met = (counts.values().map(|&count| f64::from(count))).map(|n| n * (n - 1.0) / 2.0);
        let count = values.len() as f64;
        (met.sum(), count * count / 2.0 / f64::from(bits).exp2())
    }

    #[track_caller]
    fn assert_random(values: &[u64], bits: u32, what: &str) {
        let (met, expected) = pairs(values, bits);
        assert!(
            met <= 2.0 * expected + 16.0,
            "{what}: {met} pairs agree in {bits} bits, {expected:.0} of random ones"
        );
    }

    /// Numbers as they occur in models.
    fn numbers() -> Vec<(&'static str, Vec<f64>)> {
        let made = |make: fn(f64) -> f64| (0..COUNT).map(|k| make(f64::from(k))).collect();
        vec![
            ("whole", made(|k| k)),
            ("negative", made(|k| -1.0 - k)),
            ("halves", made(|k| k / 2.0)),
            ("tenths", made(|k| k / 10.0)),
            ("1024 k", made(|k| 1024.0 * k)),
            ("k 1e9", made(|k| 1e9 * k)),
            ("k 1e-9", made(|k| 1e-9 * k)),
            ("squares", made(|k| k * k)),
            ("roots", made(f64::sqrt)),
            ("3 + k/65536", made(|k| 3.0 + k / 65536.0)),
        ]
    }

    #[test]
    fn halves_of_hashes_are_as_different_as_random_ones() {
        let pool: Vec<ExprId> = (0..POOL).map(ExprId).collect();
        let all = |make: &dyn Fn(u32) -> Node<u32>| -> Vec<u32> {
            (0..COUNT).map(|k| hash_node(&make(k), &pool)).collect()
        };
        let few = |first, len| Args { first, len };
        let mut sets = vec![
            ("leaves", all(&Node::Leaf)),
            (
                "sums in a grid",
                all(&|k| Node::Binary(BinaryOp::Add, ExprId(k % 300), ExprId(k / 300))),
            ),
            (
                "products of neighbours",
                all(&|k| Node::Binary(BinaryOp::Mul, ExprId(k), ExprId(k + 1))),
            ),
            (
                "conditions",
                all(&|k| Node::If(ExprId(k % 7), ExprId(k), ExprId(k / 7))),
            ),
            ("lists", all(&|k| Node::List(few(k, 1 + k % 40)))),
            (
                "calls",
                all(&|k| Node::Call(Function::Min, few(k, 2 + k % 3))),
            ),
        ];
        for (name, numbers) in numbers() {
            let halves = (numbers.iter())
                .map(|&value| hash_node(&Node::Number::<u32>(Real(value)), &pool))
                .collect();
            sets.push((name, halves));
        }
        for (name, halves) in sets {
            let halves: Vec<u64> = halves.into_iter().map(u64::from).collect();
            assert_random(&halves, 32, name);
            // The table looks at the lower bits for a place and at the upper seven for a tag.
            let wholes: Vec<u64> = (halves.iter()).map(|&half| whole(half as u32)).collect();
            assert_random(&wholes, 18, name);
            let tagged: Vec<u64> = wholes.iter().map(|hash| hash.rotate_left(7)).collect();
            assert_random(&tagged, 25, name);
        }
    }

    #[test]
    fn numbers_as_keys_are_as_different_as_random_ones() {
        for (name, numbers) in numbers() {
            let hashes: Vec<u64> = (numbers.iter())
                .map(|&value| FxBuildHasher.hash_one(Real(value)))
                .collect();
            assert_random(&hashes, 18, name);
            let tagged: Vec<u64> = hashes.iter().map(|hash| hash.rotate_left(7)).collect();
            assert_random(&tagged, 25, name);
        }
    }
}
