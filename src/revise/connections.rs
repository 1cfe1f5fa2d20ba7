//! Rewrites the connections of a model without some of its submodels and nodes.
//!
//! Before: the body of a model, and the submodels and nodes to remove; a removed submodel leaves a gap or a wire.
//! After: edits of its `connect` statements. A simple item keeps its form: the submodel is removed from its list,
//! parallel connection or chain. If the submodel is the place where others meet, or its chain falls apart, all
//! connections of the item are written anew, one for each cut.

use std::collections::{BTreeMap, BTreeSet};

use super::Obstacle;
use super::edit::Edits;
use super::script::Script;
use crate::flat::{Flat, InstanceId, JunctionId, PortId};
use crate::syntax::ast::*;

/// What remains at the place of a removed submodel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Residue {
    /// Nothing: whatever was connected there stays unconnected.
    Gap,
    /// Its two ends become one node.
    Wire,
}

#[derive(Debug)]
pub struct Reconnection<'a> {
    pub script: &'a Script,
    pub flat: &'a Flat,
    /// The removed submodels, by name.
    pub submodels: BTreeMap<String, Residue>,
    pub nodes: BTreeSet<String>,
    /// A cut that is connected elsewhere, and the text of the new place.
    pub moved: Option<(PortId, String)>,
    /// Removed submodels whose wires have been written.
    wired: BTreeSet<String>,
    /// True if the moved cut has been connected.
    has_moved: bool,
}

/// The new form of a part of a chain.
enum ChainPart {
    /// The new text, and the precedence of its outermost operator.
    Text(String, u8),
    Gap,
    Wire,
    /// The item must be written anew.
    Broken,
}

const SERIES: u8 = 0;
const PARALLEL: u8 = 1;
const LINK: u8 = 2;

/// The edit of one item of a `connect`.
enum ItemEdit {
    Unchanged,
    Removed,
    New(Vec<String>),
}

impl<'a> Reconnection<'a> {
    pub fn new(
        script: &'a Script,
        flat: &'a Flat,
        submodels: BTreeMap<String, Residue>,
        nodes: BTreeSet<String>,
    ) -> Self {
        Reconnection {
            script,
            flat,
            submodels,
            nodes,
            moved: None,
            wired: BTreeSet::new(),
            has_moved: false,
        }
    }

    /// Adds the edits of all connections, and returns the connections that must be added.
    pub fn edit(&mut self, edits: &mut Edits) -> Result<Vec<String>, Obstacle> {
        for statement in self.script.body() {
            match &statement.kind {
                StatementKind::Connect(items) => self.statement(statement, items, edits)?,
                StatementKind::For { .. } => self.repeated(statement)?,
                _ => {}
            }
        }
        let mut more = Vec::new();
        if let Some((port, to)) = self.moved.as_ref().filter(|_| !self.has_moved) {
            more.push(format!("{} at {to}", self.port_text(*port)));
        }
        for (name, _) in (self.submodels.iter()).filter(|(_, leaves)| **leaves == Residue::Wire) {
            if self.wired.contains(name) {
                continue;
            }
            let ends: Vec<JunctionId> = (self.ports(name).into_iter())
                .filter_map(|port| self.flat.ports.get(port).outside)
                .collect();
            let [a, b] = ends[..] else {
                return Err(Obstacle::Unwritable(name.clone()));
            };
            let (a, b) = (self.hub(a), self.hub(b));
            if let (Some(a), Some(b)) = (a, b) {
                more.push(format!("{a} at {b}"));
            }
        }
        Ok(more)
    }

    /// Refuses a submodel that is connected in a `for`.
    fn repeated(&self, statement: &Statement) -> Result<(), Obstacle> {
        let range = statement.span.range();
        let chains = &self.script.ast.chains;
        for (chain, span) in chains.nodes.iter().zip(&chains.spans) {
            let inside = range.start <= span.range().start && span.range().end <= range.end;
            if let Chain::Point(point) = *chain
                && inside
                && let Some((head, _)) = self.script.head(point)
                && (self.submodels.contains_key(head) || self.nodes.contains(head))
            {
                return Err(Obstacle::Elsewhere(head.to_string()));
            }
        }
        Ok(())
    }

    fn statement(
        &mut self,
        statement: &Statement,
        items: &[Connection],
        edits: &mut Edits,
    ) -> Result<(), Obstacle> {
        let mut item_edits = Vec::with_capacity(items.len());
        for item in items {
            item_edits.push(self.item(item)?);
        }
        let spans: Vec<_> = items.iter().map(|item| item.span.range()).collect();
        let gone = |at: usize| matches!(item_edits[at], ItemEdit::Removed);
        if (0..items.len()).any(gone) {
            edits.drop_items(&self.script.text, statement.span.range(), &spans, gone);
        }
        for (range, item) in spans.iter().zip(&item_edits) {
            if let ItemEdit::New(texts) = item {
                edits.replace(range.clone(), texts.join(", "));
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Connection) -> Result<ItemEdit, Obstacle> {
        let (chain, points, is_loop) = match item.kind {
            ConnectionKind::Chain(chain) => (chain, vec![], false),
            ConnectionKind::Loop(chain) => (chain, vec![], true),
            ConnectionKind::At(chain, at) => (chain, vec![at], false),
            ConnectionKind::FromTo(chain, from, to) => (chain, vec![from, to], false),
        };
        let heads = self.heads(chain, &points);
        if let Some(item) = self.item_of_moved(item.kind, &heads)? {
            return Ok(item);
        }
        let is_leaving =
            |head: &String| self.submodels.contains_key(head) || self.nodes.contains(head);
        if !heads.iter().any(is_leaving) {
            return Ok(ItemEdit::Unchanged);
        }
        let text = |reference: Reference| self.script.source(reference.span).to_string();
        let away = |reference: &Reference| {
            let head = self.script.head(*reference);
            head.is_some_and(|(head, _)| is_leaving(&head.to_string()))
        };
        let points_leave = points.iter().any(away);
        let part = self.chain(chain);
        match (part, &points[..]) {
            // Only places are left. They are connected by other items or not at all.
            (ChainPart::Gap, _) => Ok(ItemEdit::Removed),
            (ChainPart::Wire, [from, to]) if !points_leave => {
                let joined = format!("{} at {}", text(*from), text(*to));
                self.note_wires(&heads);
                Ok(ItemEdit::New(vec![joined]))
            }
            (ChainPart::Text(new, _), []) if !is_loop || new.contains(" - ") => {
                self.note_wires(&heads);
                let word = if is_loop { "loop " } else { "" };
                Ok(ItemEdit::New(vec![format!("{word}{new}")]))
            }
            (ChainPart::Text(new, _), [at]) if !points_leave => {
                self.note_wires(&heads);
                Ok(ItemEdit::New(vec![format!("{new} at {}", text(*at))]))
            }
            (ChainPart::Text(new, _), [from, to]) if !points_leave => {
                self.note_wires(&heads);
                let ends = format!("{new} from {} to {}", text(*from), text(*to));
                Ok(ItemEdit::New(vec![ends]))
            }
            _ => self.rewrite_item(&heads),
        }
    }

    /// Edits an item that connects the moved cut.
    fn item_of_moved(
        &mut self,
        kind: ConnectionKind,
        heads: &BTreeSet<String>,
    ) -> Result<Option<ItemEdit>, Obstacle> {
        let Some((port, to)) = self.moved.clone() else {
            return Ok(None);
        };
        let record = *self.flat.ports.get(port);
        let owner = self.flat.path(record.instance);
        let is_there = |reference: Reference| {
            let text = self.script.reference(reference).unwrap_or_default();
            (self.flat.ports.junctions)
                .iter()
                .enumerate()
                .any(|(at, junction)| {
                    let named = junction.node.is_some_and(|(name, index)| {
                        index == 0 && self.flat.names.name(name) == text
                    });
                    named
                        && junction.origin == InstanceId::TOP
                        && record.outside == Some(JunctionId::new(at))
                })
        };
        let point = |chain: ChainId| match self.script.ast.chains.node(chain) {
            Chain::Point(point) => self.script.reference(point),
            _ => None,
        };
        let source = |reference: Reference| self.script.source(reference.span).to_string();
        if !heads.contains(&owner) {
            return Ok(None);
        }
        match kind {
            ConnectionKind::At(chain, at) => match point(chain) {
                Some(text) if text == self.port_text(port) => {
                    self.has_moved = true;
                    return Ok(Some(ItemEdit::New(vec![format!("{text} at {to}")])));
                }
                // The item connects another cut of the same submodel.
                Some(text) if text.contains(':') && !source(at).contains(&owner) => {
                    return Ok(Some(ItemEdit::Unchanged));
                }
                Some(text) if text == owner && self.ports(&owner).len() == 1 => {
                    self.has_moved = true;
                    return Ok(Some(ItemEdit::New(vec![format!("{text} at {to}")])));
                }
                _ => {}
            },
            ConnectionKind::FromTo(chain, first, last) if point(chain).as_ref() == Some(&owner) => {
                let new = match (is_there(first), is_there(last)) {
                    (true, false) => Some((to, source(last))),
                    (false, true) => Some((source(first), to)),
                    _ => None,
                };
                if let Some((first, last)) = new {
                    self.has_moved = true;
                    return Ok(Some(ItemEdit::New(vec![format!(
                        "{owner} from {first} to {last}"
                    )])));
                }
            }
            _ => {}
        }
        self.rewrite_item(heads).map(Some)
    }

    fn note_wires(&mut self, heads: &BTreeSet<String>) {
        let wires =
            (heads.iter()).filter(|head| self.submodels.get(head.as_str()) == Some(&Residue::Wire));
        self.wired.extend(wires.cloned());
    }

    /// Returns the submodels and nodes that an item names.
    fn heads(&self, chain: ChainId, points: &[Reference]) -> BTreeSet<String> {
        let chains = &self.script.ast.chains;
        let first = chains.firsts[chain.0 as usize];
        let in_chain = (first..=chain.0).filter_map(|at| match chains.node(ChainId(at)) {
            Chain::Point(point) => Some(point),
            _ => None,
        });
        in_chain
            .chain(points.iter().copied())
            .filter_map(|point| Some(self.script.head(point)?.0.to_string()))
            .collect()
    }

    /// Computes the new form of a chain. Operands come before their users in the arena, so this is a loop.
    fn chain(&self, root: ChainId) -> ChainPart {
        let chains = &self.script.ast.chains;
        let first = chains.firsts[root.0 as usize];
        let mut parts: Vec<ChainPart> = Vec::new();
        let wrap = |text: &str, strength: u8, least: u8| match strength < least {
            true => format!("({text})"),
            false => text.to_string(),
        };
        for at in first..=root.0 {
            let part = match chains.node(ChainId(at)) {
                Chain::Point(point) => self.point(point),
                Chain::Reversed(a) => match &parts[(a.0 - first) as usize] {
                    ChainPart::Text(text, strength) => {
                        ChainPart::Text(format!("reversed {}", wrap(text, *strength, LINK)), LINK)
                    }
                    ChainPart::Gap => ChainPart::Gap,
                    ChainPart::Wire => ChainPart::Wire,
                    ChainPart::Broken => ChainPart::Broken,
                },
                Chain::Series(a, b) => {
                    match (
                        &parts[(a.0 - first) as usize],
                        &parts[(b.0 - first) as usize],
                    ) {
                        (ChainPart::Wire, ChainPart::Wire) => ChainPart::Wire,
                        (ChainPart::Text(text, strength), ChainPart::Wire)
                        | (ChainPart::Wire, ChainPart::Text(text, strength)) => {
                            ChainPart::Text(text.clone(), *strength)
                        }
                        (ChainPart::Text(a, x), ChainPart::Text(b, y)) => {
                            let (a, b) = (wrap(a, *x, SERIES), wrap(b, *y, PARALLEL));
                            ChainPart::Text(format!("{a} - {b}"), SERIES)
                        }
                        _ => ChainPart::Broken,
                    }
                }
                Chain::Parallel(a, b) => {
                    match (
                        &parts[(a.0 - first) as usize],
                        &parts[(b.0 - first) as usize],
                    ) {
                        (ChainPart::Gap, ChainPart::Gap) => ChainPart::Gap,
                        (ChainPart::Text(text, strength), ChainPart::Gap)
                        | (ChainPart::Gap, ChainPart::Text(text, strength)) => {
                            ChainPart::Text(text.clone(), *strength)
                        }
                        (ChainPart::Text(a, x), ChainPart::Text(b, y)) => {
                            let (a, b) = (wrap(a, *x, PARALLEL), wrap(b, *y, LINK));
                            ChainPart::Text(format!("{a} // {b}"), PARALLEL)
                        }
                        _ => ChainPart::Broken,
                    }
                }
            };
            parts.push(part);
        }
        parts.pop().unwrap_or(ChainPart::Broken)
    }

    fn point(&self, point: Reference) -> ChainPart {
        let head = self.script.head(point).map_or("", |(head, _)| head);
        if self.nodes.contains(head) {
            return ChainPart::Gap;
        }
        match self.submodels.get(head) {
            Some(Residue::Gap) => ChainPart::Gap,
            Some(Residue::Wire) => ChainPart::Wire,
            None => ChainPart::Text(self.script.source(point.span).to_string(), LINK),
        }
    }

    /// Writes the connections of these submodels anew, one for each cut.
    fn rewrite_item(&mut self, heads: &BTreeSet<String>) -> Result<ItemEdit, Obstacle> {
        let flat = self.flat;
        let mut places: BTreeSet<JunctionId> = BTreeSet::new();
        for head in heads {
            let ports = self.ports(head);
            places.extend(
                ports
                    .iter()
                    .filter_map(|&port| flat.ports.get(port).outside),
            );
            places.extend(
                (flat.ports.of(InstanceId::TOP))
                    .filter(|&port| self.port_text(port) == *head)
                    .filter_map(|port| flat.ports.get(port).inside),
            );
        }
        let mut texts = Vec::new();
        for place in places {
            if flat.ports.junctions[place.index()].has_terminal {
                return Err(Obstacle::Unwritable(
                    heads.iter().cloned().collect::<Vec<_>>().join(", "),
                ));
            }
            let Some(hub) = self.hub(place) else {
                continue;
            };
            for port in self.members(place) {
                // Other submodels at this place are connected by their own items.
                let text = self.port_text(port);
                let owner = text.split([':', '[']).next().unwrap_or("");
                if text != hub && heads.contains(owner) {
                    texts.push(format!("{text} at {hub}"));
                }
            }
        }
        Ok(match texts.is_empty() {
            true => ItemEdit::Removed,
            false => ItemEdit::New(texts),
        })
    }

    /// Returns the cuts that remain at a place.
    fn members(&self, place: JunctionId) -> Vec<PortId> {
        let flat = self.flat;
        (flat.ports.ids())
            .filter(|&id| {
                let port = flat.ports.get(id);
                if self.moved.as_ref().is_some_and(|(moved, _)| *moved == id) {
                    return false;
                }
                match port.instance {
                    InstanceId::TOP => port.inside == Some(place),
                    instance => {
                        let name = flat.path(instance);
                        port.outside == Some(place) && !self.submodels.contains_key(&name)
                    }
                }
            })
            .collect()
    }

    /// Returns the name of a place in a connection: its node, or one of its cuts.
    pub fn hub(&self, place: JunctionId) -> Option<String> {
        let record = self.flat.ports.junctions[place.index()];
        if let Some((symbol, index)) = record.node {
            let mut name = self.flat.names.name(symbol).to_string();
            if !self.nodes.contains(&name) {
                if index > 0 {
                    name.push_str(&format!("[{index}]"));
                }
                return Some(name);
            }
        }
        let first = self.members(place).into_iter().next()?;
        Some(self.port_text(first))
    }

    fn port_text(&self, port: PortId) -> String {
        self.flat.port_name(port, ':')
    }

    /// Returns the cuts of a submodel of the model, or of all elements of an array.
    fn ports(&self, name: &str) -> Vec<PortId> {
        let flat = self.flat;
        (flat.instances.iter().enumerate())
            .filter(|(at, instance)| {
                let is_top = *at == 0;
                !is_top
                    && instance.parent == InstanceId::TOP
                    && flat.names.name(instance.name) == name
            })
            .flat_map(|(at, _)| flat.ports.of(InstanceId(at as u32)))
            .collect()
    }
}
