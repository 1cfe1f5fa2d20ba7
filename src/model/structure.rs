//! The structure of a cut: the simple cuts in a bundle, and how many variables each side has.
//!
//! Bundles nest to any depth; they are opened with an explicit stack.

use rustc_hash::FxHashSet;

use super::class::{CutBody, CutDecl, CutMember, Side};
use super::connect::{OwnerNumber, PointKey, SELF};
use super::instance::Tree;
use crate::base::diagnostics::{Code, Diagnostic};
use crate::base::intern::Symbol;

/// A variable in a cut: its place among the variables of its owner, and its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub owner: OwnerNumber,
    pub offset: u32,
    pub negative: bool,
}

/// One side of a simple cut; `None` for a lone `.`.
pub type Places = Option<Vec<Option<Place>>>;

/// A simple cut, in the coordinates of an instance.
#[derive(Clone, Debug)]
pub struct Opened {
    pub key: PointKey,
    pub across: Places,
    pub through: Places,
}

/// A part of the structure of a cut, without names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Open,
    Close,
    /// The numbers of variables on each side; `None` agrees with any number.
    Simple(Option<u32>, Option<u32>),
}

#[derive(Clone, Debug, Default)]
pub struct Structure {
    pub tokens: Vec<Token>,
    pub members: Vec<Opened>,
}

/// The common structure of two cuts, if they agree.
pub fn agree(one: &[Token], other: &[Token]) -> Option<Vec<Token>> {
    if one.len() != other.len() {
        return None;
    }
    let side = |a: Option<u32>, b: Option<u32>| match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        _ => Some(a.or(b)),
    };
    (one.iter().zip(other))
        .map(|(a, b)| match (*a, *b) {
            (Token::Simple(v, i), Token::Simple(w, j)) => {
                Some(Token::Simple(side(v, w)?, side(i, j)?))
            }
            (a, b) => (a == b).then_some(a),
        })
        .collect()
}

/// A structure is shown up to about this length.
const LONGEST_TEXT: usize = 200;

enum Task {
    Cut { cut: u32, element: u32 },
    Close,
}

impl<'c> Tree<'c> {
    pub fn owner_instance(&self, instance: u32, owner: OwnerNumber) -> u32 {
        match owner {
            SELF => instance,
            number => self.instances[instance as usize].children + number - 1,
        }
    }

    /// The element (from 1 on) of an array of cuts that a member of a bundle names; 0 for none.
    pub fn member_element(&mut self, instance: u32, member: CutMember) -> Option<u32> {
        let Some(index) = member.index else {
            return Some(0);
        };
        let size = self.shape(instance).cuts[member.cut as usize];
        let value = self.shaping_value(instance, index.root, &[])?;
        Some(self.element(value, size, member.span)? + 1)
    }

    /// Opens a cut; nodes have no structure of their own.
    pub fn open(&mut self, instance: u32, key: PointKey) -> Option<Structure> {
        match key {
            PointKey::Node(_) => None,
            PointKey::Terminal { owner, offset } => {
                let place = Place {
                    owner,
                    offset,
                    negative: false,
                };
                Some(Structure {
                    tokens: vec![Token::Simple(Some(1), None)],
                    members: vec![Opened {
                        key,
                        across: Some(vec![Some(place)]),
                        through: None,
                    }],
                })
            }
            PointKey::Cut {
                owner,
                cut,
                element,
            } => self.open_cut(instance, owner, cut, element),
        }
    }

    fn open_cut(
        &mut self,
        instance: u32,
        owner: OwnerNumber,
        cut: u32,
        element: u32,
    ) -> Option<Structure> {
        let inner = self.owner_instance(instance, owner);
        let class = self.class(inner);
        let mut structure = Structure::default();
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        let outermost = cut;
        let mut work = vec![Task::Cut { cut, element }];
        while let Some(item) = work.pop() {
            let Task::Cut { cut, element } = item else {
                structure.tokens.push(Token::Close);
                continue;
            };
            let decl = &class.cuts[cut as usize];
            let size = self.shape(inner).cuts[cut as usize];
            let members: Vec<(u32, u32)> = match &decl.body {
                _ if decl.array && element == 0 => (1..=size).map(|at| (cut, at)).collect(),
                CutBody::Bundle(members) => {
                    let mut inside = Vec::with_capacity(members.len());
                    for &member in members {
                        inside.push((member.cut, self.member_element(inner, member)?));
                    }
                    inside
                }
                CutBody::Simple { across, through } => {
                    if !seen.insert((cut, element)) {
                        self.twice_in_bundle(&class.cuts[outermost as usize], decl);
                        return None;
                    }
                    let count = |side: &Side| side.len().map(|len| len as u32);
                    let token = Token::Simple(count(across), count(through));
                    structure.tokens.push(token);
                    structure.members.push(Opened {
                        key: PointKey::Cut {
                            owner,
                            cut,
                            element,
                        },
                        across: self.places(inner, owner, across, element),
                        through: self.places(inner, owner, through, element),
                    });
                    continue;
                }
            };
            structure.tokens.push(Token::Open);
            work.push(Task::Close);
            let inside = members.iter().rev();
            work.extend(inside.map(|&(cut, element)| Task::Cut { cut, element }));
        }
        Some(structure)
    }

    /// How a cut was declared, for messages: `A(e/f)`, `[A(x/y), B(y/-x)]`.
    pub fn structure_text(&mut self, instance: u32, key: PointKey) -> String {
        let Some(structure) = self.open(instance, key) else {
            return "a node".to_string();
        };
        let mut members = structure.members.iter();
        let mut text = String::new();
        for token in &structure.tokens {
            if text.len() > LONGEST_TEXT {
                text.push_str(&format!(", ... ({} cuts)", structure.members.len()));
                break;
            }
            match token {
                Token::Close => text.push(']'),
                _ if text.is_empty() || text.ends_with('[') => {}
                _ => text.push_str(", "),
            }
            match token {
                Token::Open => text.push('['),
                Token::Close => {}
                Token::Simple(..) => {
                    if let Some(member) = members.next() {
                        self.describe(instance, member, &mut text);
                    }
                }
            }
        }
        text
    }

    fn twice_in_bundle(&mut self, bundle: &CutDecl, decl: &CutDecl) {
        let (outer, name) = (self.text(bundle.name), self.text(decl.name));
        self.diagnostics.push(
            Diagnostic::new(
                Code::DuplicateName,
                format!("the cut `{name}` stands twice in the bundle `{outer}`"),
            )
            .at(bundle.span, "this bundle")
            .at(decl.span, "the cut"),
        );
    }

    fn places(&self, inner: u32, owner: OwnerNumber, side: &Side, element: u32) -> Places {
        let Side::Places(places) = side else {
            return None;
        };
        let runs = &self.shape(inner).variables;
        let placed = places
            .iter()
            .map(|place| {
                place.map(|place| Place {
                    owner,
                    offset: runs[place.slot as usize].first + element.saturating_sub(1),
                    negative: place.negative,
                })
            })
            .collect();
        Some(placed)
    }

    /// `A(e1, e2/f1, f2)`
    fn describe(&self, instance: u32, member: &Opened, out: &mut String) {
        let name = self.point_name(instance, member.key);
        out.push_str(name.rsplit(':').next().unwrap_or(&name));
        let side = |side: &Places| match side {
            None => ".".to_string(),
            Some(places) => {
                let names = places.iter().map(|place| match place {
                    None => ".".to_string(),
                    Some(place) => {
                        let inner = self.owner_instance(instance, place.owner);
                        let variable = self.instances[inner as usize].variables + place.offset;
                        let slot = self.variables[variable as usize].slot;
                        let name = self.text(self.class(inner).variables[slot as usize].name);
                        format!("{}{name}", if place.negative { "-" } else { "" })
                    }
                });
                names.collect::<Vec<_>>().join(", ")
            }
        };
        out.push_str(&format!(
            "({}/{})",
            side(&member.across),
            side(&member.through)
        ));
    }

    /// The declaration of a node, and its index: from 1 on in an array, 0 for a single one.
    pub fn node_name(&self, instance: u32, node: u32) -> (Symbol, u32) {
        let runs = &self.shape(instance).nodes;
        let slot = runs.partition_point(|run| run.first <= node) - 1;
        let decl = &self.class(instance).nodes[slot];
        match decl.array {
            true => (decl.name, node - runs[slot].first + 1),
            false => (decl.name, 0),
        }
    }

    /// `R1:A`, `n`, `c[3]:p[2]`
    pub fn point_name(&self, instance: u32, key: PointKey) -> String {
        let indexed = |name: String, array: bool, index: u32| match array {
            true => format!("{name}[{index}]"),
            false => name,
        };
        let owner_name = |owner: OwnerNumber| match owner {
            SELF => String::new(),
            _ => {
                let inner = self.owner_instance(instance, owner);
                let record = self.instances[inner as usize];
                let name = self.text(self.instance_name(inner));
                format!("{}:", indexed(name, record.index > 0, record.index))
            }
        };
        match key {
            PointKey::Node(node) => {
                let (name, index) = self.node_name(instance, node);
                indexed(self.text(name), index > 0, index)
            }
            PointKey::Cut {
                owner,
                cut,
                element,
            } => {
                let inner = self.class(self.owner_instance(instance, owner));
                let name = self.text(inner.cuts[cut as usize].name);
                let name = indexed(name, element > 0, element);
                format!("{}{name}", owner_name(owner))
            }
            PointKey::Terminal { owner, offset } => {
                let inner = self.owner_instance(instance, owner);
                let variable = self.instances[inner as usize].variables + offset;
                let record = self.variables[variable as usize];
                let decl = &self.class(inner).variables[record.slot as usize];
                let name = indexed(self.text(decl.name), decl.array, record.element + 1);
                format!("{}{name}", owner_name(owner))
            }
        }
    }
}
