//! Which cuts are connected with each other: the connections of one instance.
//!
//! Before: an instance whose submodels exist. After: groups of simple cuts that are connected, in
//! the order of their last connections, each with its members. First points (nodes, cuts, bundles
//! of cuts) are joined as written; then bundles are opened and their members joined component by
//! component. [`super::couplings`] turns the groups into equations.

use crate::base::cancel::glance;
use rustc_hash::FxHashMap;

use super::class::*;
use super::instance::Tree;
use super::sets::{Joint, Sets};
use super::structure::{Opened, Structure, Token, agree};
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::source::Span;

/// The owner of a point: 0 is the instance itself, k its k-th submodel.
pub type OwnerNumber = u32;
pub const SELF: OwnerNumber = 0;

/// A point that can be joined, in the coordinates of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PointKey {
    Node(u32),
    /// `element` counts from 1; 0 stands for a single cut or a whole array.
    Cut {
        owner: OwnerNumber,
        cut: u32,
        element: u32,
    },
    Terminal {
        owner: OwnerNumber,
        offset: u32,
    },
}

/// Simple cuts that are connected with each other.
#[derive(Debug)]
pub struct Group {
    pub members: Vec<Opened>,
    /// At a `junction1` the roles of across and through change.
    pub junction1: bool,
    /// The node that they meet at, the one declared first if there are several.
    pub node: Option<u32>,
    /// Its place in a bundle, counted from 1, if bundles were connected.
    pub part: Option<u32>,
    pub span: Span,
}

/// The result of the connections of an instance.
#[derive(Debug, Default)]
pub struct Met {
    pub groups: Vec<Group>,
    /// Terminals named in a connection.
    pub terminals: Vec<(OwnerNumber, u32)>,
}

pub struct Connector<'t, 'c> {
    pub tree: &'t mut Tree<'c>,
    pub instance: u32,
    class: &'c Class,
    points: Sets,
    /// The structure of each cut; `None` for nodes.
    opened: Vec<Option<Structure>>,
    /// For the root of each set, what is known of the structure of its members.
    known: Vec<Option<Vec<Token>>>,
    spans: Vec<Span>,
    loops: Vec<f64>,
    failed: bool,
}

/// Evaluates the connections of an instance; `None` after an error.
pub fn connect(tree: &mut Tree<'_>, instance: u32) -> Option<Met> {
    let class = tree.class(instance);
    let mut connector = Connector {
        tree,
        instance,
        class,
        points: Sets::default(),
        opened: Vec::new(),
        known: Vec::new(),
        spans: Vec::new(),
        loops: Vec::new(),
        failed: false,
    };
    connector.all(&class.connections);
    if connector.failed {
        return None;
    }
    let met = connector.open();
    connector.unnamed_nodes();
    (!connector.failed).then_some(met)
}

impl<'c> Connector<'_, 'c> {
    /// Continues after an error, so that one run reports all of them.
    fn all(&mut self, connections: &'c [Connection]) {
        let depth = self.loops.len();
        for connection in connections {
            glance();
            self.failed |= self.one(connection).is_none();
            self.loops.truncate(depth);
            if self.tree.exhausted {
                return;
            }
        }
    }

    fn one(&mut self, connection: &'c Connection) -> Option<()> {
        match connection {
            Connection::For(block) => {
                let (from, to) =
                    (self.tree).bounds(self.instance, block.from, block.to, &self.loops)?;
                for turn in from..=to {
                    glance();
                    self.loops.push(turn as f64);
                    self.all(&block.body);
                    self.loops.pop();
                    if self.tree.exhausted {
                        return None;
                    }
                }
            }
            Connection::At { what, point, span } => {
                let a = self.point(*what)?;
                let b = self.point(*point)?;
                self.join(a.0, b.0, *span);
            }
            Connection::Chain {
                chain,
                closed,
                span,
            } => {
                let (first, last) = self.chain(chain, *span)?;
                if *closed {
                    self.join(last, first, *span);
                }
            }
            Connection::FromTo {
                chain,
                from,
                to,
                span,
            } => {
                let (first, last) = self.chain(chain, *span)?;
                let from = self.point(*from)?.0;
                let to = self.point(*to)?.0;
                self.join(first, from, *span);
                self.join(last, to, *span);
            }
        }
        Some(())
    }

    /// Joins the inner points of a chain, and returns its two ends.
    fn chain(&mut self, chain: &[Chain], span: Span) -> Option<(PointKey, PointKey)> {
        let mut ends: Vec<(PointKey, PointKey)> = Vec::with_capacity(chain.len());
        for link in chain {
            let pair = match *link {
                Chain::Point(point) => self.point(point)?,
                Chain::Reversed(a) => {
                    let (first, last) = ends[a as usize];
                    (last, first)
                }
                Chain::Series(a, b) => {
                    let (a, b) = (ends[a as usize], ends[b as usize]);
                    self.join(a.1, b.0, span);
                    (a.0, b.1)
                }
                Chain::Parallel(a, b) => {
                    let (a, b) = (ends[a as usize], ends[b as usize]);
                    self.join(a.0, b.0, span);
                    self.join(a.1, b.1, span);
                    a
                }
            };
            ends.push(pair);
        }
        ends.last().copied()
    }

    fn index(&mut self, index: Option<Template>, size: u32, span: Span) -> Option<u32> {
        let Some(index) = index else { return Some(0) };
        let value = (self.tree).shaping_value(self.instance, index.root, &self.loops)?;
        Some(self.tree.element(value, size, span)? + 1)
    }

    /// The number of an owner, with its instance and class.
    fn owner(&mut self, owner: Owner, span: Span) -> Option<(OwnerNumber, u32)> {
        match owner {
            Owner::Own => Some((SELF, self.instance)),
            Owner::Submodel(slot, index) => {
                let run = self.tree.child(self.instance, slot)?;
                let element = self.index(index, run.size, span)?.saturating_sub(1);
                let instance = run.first + element;
                let first = self.tree.instances[self.instance as usize].children;
                Some((instance - first + 1, instance))
            }
        }
    }

    /// A point as the pair of its ends.
    fn point(&mut self, point: Point) -> Option<(PointKey, PointKey)> {
        let span = point.span;
        let single = |key: PointKey| Some((key, key));
        match point.kind {
            PointKind::Node(slot, index) => {
                let run = self.tree.shape(self.instance).nodes[slot as usize];
                let element = self.index(index, run.size, span)?.saturating_sub(1);
                single(PointKey::Node(run.first + element))
            }
            PointKind::Cut(owner, cut, index) => {
                let (owner, instance) = self.owner(owner, span)?;
                let size = self.tree.shape(instance).cuts[cut as usize];
                let element = self.index(index, size, span)?;
                single(PointKey::Cut {
                    owner,
                    cut,
                    element,
                })
            }
            PointKind::Terminal(owner, slot, index) => {
                let (owner, instance) = self.owner(owner, span)?;
                let run = self.tree.slot(instance, slot)?;
                let element = self.index(index, run.size, span)?.saturating_sub(1);
                let first = self.tree.instances[instance as usize].variables;
                let offset = run.first - first + element;
                single(PointKey::Terminal { owner, offset })
            }
            PointKind::Path(owner, path) => {
                let (owner, instance) = self.owner(owner, span)?;
                let path = &self.tree.class(instance).paths[path as usize];
                let from = self.path_end(owner, instance, path.from?)?;
                let to = self.path_end(owner, instance, path.to?)?;
                Some((from, to))
            }
        }
    }

    fn path_end(
        &mut self,
        owner: OwnerNumber,
        instance: u32,
        member: CutMember,
    ) -> Option<PointKey> {
        let element = self.tree.member_element(instance, member)?;
        Some(PointKey::Cut {
            owner,
            cut: member.cut,
            element,
        })
    }

    fn add(&mut self, key: PointKey) -> Option<u32> {
        let time = self.spans.len() as u32 - 1;
        let number = self.points.add(key, time);
        if number as usize == self.opened.len() {
            let structure = self.tree.open(self.instance, key);
            self.failed |= structure.is_none() && !matches!(key, PointKey::Node(_));
            self.known
                .push(structure.as_ref().map(|s| s.tokens.clone()));
            self.opened.push(structure);
        }
        let sound = self.opened[number as usize].is_some() || matches!(key, PointKey::Node(_));
        sound.then_some(number)
    }

    fn join(&mut self, a: PointKey, b: PointKey, span: Span) {
        self.spans.push(span);
        let x = self.add(a);
        // The second point was named after the first.
        self.spans.push(span);
        let y = self.add(b);
        let (Some(x), Some(y)) = (x, y) else { return };
        if x == y {
            let name = self.point_name(a);
            self.failed = true;
            self.tree.diagnostics.push(
                Diagnostic::new(
                    Code::ConnectedToItself,
                    format!("`{name}` is connected to itself"),
                )
                .at(span, "both ends are the same"),
            );
            return;
        }
        let (x, y) = (self.points.find(x), self.points.find(y));
        if x == y {
            return;
        }
        // The older set stays the root, so that the outcome does not depend on its size.
        let (root, other) = (x.min(y), x.max(y));
        let known = (
            self.known[root as usize].take(),
            self.known[other as usize].take(),
        );
        self.known[root as usize] = match known {
            (Some(first), Some(second)) => {
                let joined = agree(&first, &second);
                if joined.is_none() {
                    self.different(a, b, span);
                }
                joined.or(Some(first))
            }
            (first, second) => first.or(second),
        };
        self.points.parents[other as usize] = root;
    }

    fn different(&mut self, a: PointKey, b: PointKey, span: Span) {
        self.failed = true;
        let mut diagnostic = Diagnostic::new(
            Code::DifferentStructure,
            "cuts of different structure are connected",
        )
        .at(span, "in this connection");
        for point in [a, b] {
            // A node has the structure of the first cut that was connected to it.
            let root = match self.points.numbers.get(&point) {
                Some(&number) => self.points.find(number),
                None => continue,
            };
            let shown = match point {
                PointKey::Node(_) => (0..self.points.keys.len() as u32)
                    .filter(|&at| self.opened[at as usize].is_some())
                    .find(|&at| self.points.find(at) == root)
                    .map_or(point, |at| self.points.keys[at as usize]),
                _ => point,
            };
            let name = self.point_name(point);
            let text = self.tree.structure_text(self.instance, shown);
            diagnostic = diagnostic.note(match shown == point {
                true => format!("`{name}` is {text}"),
                false => format!("`{name}` has {text}, from `{}`", self.point_name(shown)),
            });
        }
        self.tree.diagnostics.push(diagnostic);
    }

    /// `R1:A`, `n`, `c[3]:p[2]`
    pub fn point_name(&self, key: PointKey) -> String {
        self.tree.point_name(self.instance, key)
    }

    /// Opens bundles and joins the simple cuts in them position by position.
    fn open(&mut self) -> Met {
        let mut met = Met::default();
        let mut simple: Sets = Sets::default();
        let mut opened: Vec<Opened> = Vec::new();
        let mut joints: FxHashMap<u32, Joint> = FxHashMap::default();
        for group in self.points.groups() {
            glance();
            let nodes: Vec<u32> = (group.iter())
                .filter_map(|&at| match self.points.keys[at as usize] {
                    PointKey::Node(node) => Some(node),
                    _ => None,
                })
                .collect();
            let cuts: Vec<u32> = (group.iter().copied())
                .filter(|&at| !matches!(self.points.keys[at as usize], PointKey::Node(_)))
                .collect();
            let junction1 = self.junction_of(&nodes, &group);
            self.lonely_nodes(&nodes, cuts.len());
            let mut first: Vec<u32> = Vec::new();
            for at in cuts {
                let Some(structure) = self.opened[at as usize].take() else {
                    continue;
                };
                for (position, member) in structure.members.into_iter().enumerate() {
                    let number = simple.add(member.key, self.points.first[at as usize]);
                    simple.add(member.key, self.points.last[at as usize]);
                    if number as usize == opened.len() {
                        if let PointKey::Terminal { owner, offset } = member.key {
                            met.terminals.push((owner, offset));
                        }
                        opened.push(member);
                    }
                    match first.get(position) {
                        None => first.push(number),
                        Some(&other) => {
                            let (x, y) = (simple.find(other), simple.find(number));
                            let (root, below) = (x.min(y), x.max(y));
                            simple.parents[below as usize] = root;
                        }
                    }
                }
            }
            let in_bundle = first.len() > 1;
            for (position, number) in first.into_iter().enumerate() {
                let joint = joints.entry(number).or_default();
                if in_bundle {
                    joint.part = joint.part.or(Some(position as u32 + 1));
                }
                let Some(&node) = nodes.iter().min() else {
                    continue;
                };
                joint.node = Some(joint.node.map_or(node, |other| other.min(node)));
                if *joint.junction1.get_or_insert(junction1) != junction1 {
                    self.mixed_roles(opened[number as usize].key);
                }
            }
        }
        for members in simple.groups() {
            glance();
            let known: Vec<Joint> = (members.iter())
                .filter_map(|number| joints.get(number).copied())
                .collect();
            let kinds: Vec<bool> = known.iter().filter_map(|joint| joint.junction1).collect();
            if kinds.iter().any(|&kind| kind != kinds[0]) {
                self.mixed_roles(opened[members[0] as usize].key);
            }
            let last = members.iter().map(|&at| simple.last[at as usize]).max();
            met.groups.push(Group {
                span: self.spans[last.unwrap_or(0) as usize],
                junction1: kinds.first().copied().unwrap_or(false),
                node: known.iter().filter_map(|joint| joint.node).min(),
                part: known.iter().filter_map(|joint| joint.part).min(),
                members: (members.iter())
                    .map(|&number| opened[number as usize].clone())
                    .collect(),
            });
        }
        met
    }

    /// Whether the nodes of a set are `junction1`s; they may not be mixed with others.
    fn junction_of(&mut self, nodes: &[u32], group: &[u32]) -> bool {
        let kinds: Vec<bool> = nodes
            .iter()
            .map(|&node| self.node_decl(node).junction1)
            .collect();
        let one = kinds.iter().position(|&kind| kind);
        let zero = kinds.iter().position(|&kind| !kind);
        if let (Some(one), Some(zero)) = (one, zero) {
            let last = group.iter().map(|&at| self.points.last[at as usize]).max();
            let one = self.point_name(PointKey::Node(nodes[one]));
            let zero = self.point_name(PointKey::Node(nodes[zero]));
            self.failed = true;
            self.tree.diagnostics.push(
                Diagnostic::new(
                    Code::JunctionRoles,
                    format!("the junction1 `{one}` and the node `{zero}` are joined"),
                )
                .at(self.spans[last.unwrap_or(0) as usize], "in this connection")
                .hint("join them by a `link` of the library: `connect L from n to j`"),
            );
        }
        one.is_some()
    }

    fn mixed_roles(&mut self, key: PointKey) {
        let name = self.point_name(key);
        self.failed = true;
        self.tree.diagnostics.push(
            Diagnostic::new(
                Code::JunctionRoles,
                format!("`{name}` is connected to a junction1 and to a node"),
            )
            .at(self.class.span, "in this model")
            .hint("join the node and the junction1 by a `link` of the library"),
        );
    }

    fn node_decl(&self, node: u32) -> &'c NodeDecl {
        let runs = &self.tree.shape(self.instance).nodes;
        let slot = runs.partition_point(|run| run.first <= node) - 1;
        &self.class.nodes[slot]
    }

    /// Nodes that no connection names, one for each declaration.
    fn unnamed_nodes(&mut self) {
        let runs = self.tree.shape(self.instance).nodes.clone();
        for run in runs {
            let unnamed = (run.first..run.first + run.size)
                .find(|&node| !self.points.numbers.contains_key(&PointKey::Node(node)));
            if let Some(node) = unnamed {
                self.lonely_nodes(&[node], 0);
            }
        }
    }

    fn lonely_nodes(&mut self, nodes: &[u32], cuts: usize) {
        if cuts > 1 || self.failed {
            return;
        }
        for &node in nodes {
            let name = self.point_name(PointKey::Node(node));
            let text = match cuts {
                0 => "no cut is connected to it",
                _ => "only one cut is connected to it",
            };
            let span = self.node_decl(node).span;
            self.tree.diagnostics.push(
                Diagnostic::new(Code::LonelyNode, format!("the node `{name}` joins nothing"))
                    .at(span, text),
            );
        }
    }
}
