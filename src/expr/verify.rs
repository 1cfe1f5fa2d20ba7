//! Verifier of arenas: operands come before the nodes that use them.

use super::{Arena, ExprId, Leaf, Node};
use crate::base::flaw::Flaws;

impl<L: Leaf> Arena<L> {
    /// Adds the flaws of an arena. `declared` tells whether a leaf belongs to the representation. Every pass is a loop
    /// over the arena because this holds.
    pub fn verify(&self, declared: impl Fn(L) -> Result<(), String>, flaws: &mut Flaws) {
        for at in 0..self.len() as u32 {
            let id = ExprId(at);
            match self.node(id) {
                Node::Leaf(leaf) => {
                    if let Err(what) = declared(leaf) {
                        flaws.add(id, what);
                    }
                    continue;
                }
                Node::Call(_, args) | Node::List(args)
                    if args.first as usize + args.len as usize > self.pool_len() =>
                {
                    flaws.add(id, "its operands are not in the pool");
                    continue;
                }
                _ => {}
            }
            self.each_operand(id, |operand| {
                flaws.unless(operand < id, id, || {
                    format!("its operand {operand:?} does not come before it")
                });
            });
        }
    }

    /// Whether the id is in range.
    pub fn holds(&self, id: ExprId) -> bool {
        id.index() < self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Args, BinaryOp};

    fn told(break_it: impl FnOnce(&mut Arena<u32>)) -> String {
        let mut arena: Arena<u32> = Arena::default();
        let (x, y) = (arena.leaf(1), arena.leaf(2));
        arena.binary(BinaryOp::Add, x, y);
        arena.list(&[x, y]);
        break_it(&mut arena);
        let mut flaws = Flaws::default();
        let declared = |leaf| match leaf {
            1..=2 => Ok(()),
            _ => Err(format!("no leaf {leaf}")),
        };
        arena.verify(declared, &mut flaws);
        flaws.to_string()
    }

    #[test]
    fn a_broken_arena_is_told() {
        assert_eq!(told(|_| ()), "");
        let after = Node::Binary(BinaryOp::Add, ExprId(0), ExprId(3));
        assert_eq!(
            told(|arena| arena.put(ExprId(2), after)),
            "  e2: its operand e3 does not come before it\n"
        );
        assert_eq!(
            told(|arena| arena.put(ExprId(1), Node::Leaf(7))),
            "  e1: no leaf 7\n"
        );
        let pool = Node::List(Args { first: 1, len: 2 });
        assert_eq!(
            told(|arena| arena.put(ExprId(3), pool)),
            "  e3: its operands are not in the pool\n"
        );
    }
}
