//! The instance tree: one record for each submodel, one for each variable.
//!
//! Before: classes, and the one that is to be compiled. After: all instances and variables. The
//! variables of an instance have consecutive numbers, and so have its submodels, so a slot of the
//! class is found by an addition. The tree is made top down with an explicit stack, each instance
//! before its submodels; sizes of arrays are evaluated on the way, from parameters known so far.

use crate::base::cancel::glance;
use rustc_hash::FxHashMap;

use super::Classes;
use super::class::{Class, ClassId, Template};
use super::parameters::Memo;
use crate::base::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::base::intern::{Interner, Symbol};
use crate::base::source::Span;
use crate::flat;
use crate::syntax::shorten;

/// An instance in the making, numbered as in [`crate::flat::Flat`].
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    pub class: ClassId,
    pub parent: u32,
    /// Which submodel of the parent's class, and which element of the array (from 1 on).
    pub submodel: u32,
    pub index: u32,
    pub shape: u32,
    /// Its first variable and its first submodel.
    pub variables: u32,
    pub children: u32,
}

/// The most variables for each instance that the limit of instances allows.
const EACH: usize = 8;

/// Not yet instantiated.
pub const PENDING: u32 = u32::MAX;

/// A range of elements: its first one and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub first: u32,
    pub size: u32,
}

/// Where the slots of a class lie in an instance; instances of equal sizes share a shape. Single
/// variables come before arrays, because sizes of arrays may depend on them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    pub variables: Vec<Run>,
    pub submodels: Vec<Run>,
    pub nodes: Vec<Run>,
    /// The size of each cut; 0 also for those that are no arrays.
    pub cuts: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct Variable {
    pub instance: u32,
    pub slot: u32,
    /// Counted from 0, also if it is no array.
    pub element: u32,
}

/// Limits that keep a small mistake from filling the memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub instances: usize,
    /// Whether the command line cannot set another limit.
    pub fixed: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            instances: 10_000_000,
            fixed: false,
        }
    }
}

#[derive(Debug)]
pub struct Tree<'c> {
    pub classes: &'c Classes,
    pub interner: &'c Interner,
    pub diagnostics: &'c mut Diagnostics,
    pub instances: Vec<Instance>,
    pub shapes: Vec<Shape>,
    pub variables: Vec<Variable>,
    pub memo: Vec<Memo>,
    pub limits: Limits,
    /// Shapes by class for classes without arrays, by content for the others.
    plain: FxHashMap<ClassId, u32>,
    /// The shape of the instance that is being expanded, as far as it is known.
    building: Shape,
    /// The number of turns of all `for`s so far.
    pub turns: usize,
    /// Parameters that sizes, bounds and indices were computed from, once for each use.
    pub shaping: Vec<u32>,
    /// Whether a size, a bound or an index is being computed.
    pub is_shaping: bool,
    /// A limit was reached, so the rest need not be tried.
    pub exhausted: bool,
    sized: FxHashMap<(ClassId, Shape), u32>,
}

/// Instantiates a class; `None` after an error that makes further work useless.
pub fn instantiate<'c>(
    classes: &'c Classes,
    interner: &'c Interner,
    model: ClassId,
    limits: Limits,
    diagnostics: &'c mut Diagnostics,
) -> Option<Tree<'c>> {
    let mut tree = Tree {
        classes,
        interner,
        diagnostics,
        instances: vec![Instance {
            class: model,
            parent: 0,
            submodel: 0,
            index: 0,
            shape: PENDING,
            variables: PENDING,
            children: PENDING,
        }],
        shapes: Vec::new(),
        variables: Vec::new(),
        memo: Vec::new(),
        limits,
        plain: FxHashMap::default(),
        building: Shape::default(),
        turns: 0,
        shaping: Vec::new(),
        is_shaping: false,
        exhausted: false,
        sized: FxHashMap::default(),
    };
    let mut stack = vec![0u32];
    while let Some(id) = stack.pop() {
        glance();
        let children = tree.expand(id)?;
        stack.extend(children.rev());
    }
    Some(tree)
}

impl<'c> Tree<'c> {
    pub fn class(&self, instance: u32) -> &'c Class {
        self.classes.get(self.instances[instance as usize].class)
    }

    pub fn shape(&self, instance: u32) -> &Shape {
        match self.instances[instance as usize].shape {
            PENDING => &self.building,
            shape => &self.shapes[shape as usize],
        }
    }

    /// The variables of a slot. `None` while an array has no place yet.
    pub fn slot(&self, instance: u32, slot: u32) -> Option<Run> {
        let run = self.shape(instance).variables[slot as usize];
        (run.first != PENDING).then(|| Run {
            first: self.instances[instance as usize].variables + run.first,
            size: run.size,
        })
    }

    /// The instances of a submodel's slot. `None` while they are not there yet.
    pub fn child(&self, instance: u32, slot: u32) -> Option<Run> {
        let first = self.instances[instance as usize].children;
        (first != PENDING).then(|| {
            let run = self.shape(instance).submodels[slot as usize];
            Run {
                first: first + run.first,
                size: run.size,
            }
        })
    }

    pub fn text(&self, symbol: Symbol) -> String {
        shorten(self.interner.name(symbol))
    }

    /// `c[2].R1`, or the model's name for the top.
    pub fn path(&self, mut instance: u32) -> String {
        if instance == 0 {
            return self.text(self.class(0).name);
        }
        let mut parts = Vec::new();
        while instance != 0 {
            glance();
            let record = self.instances[instance as usize];
            let name = self.text(self.instance_name(instance));
            parts.push(match record.index {
                0 => name,
                index => format!("{name}[{index}]"),
            });
            instance = record.parent;
        }
        parts.reverse();
        parts.join(".")
    }

    pub fn instance_name(&self, instance: u32) -> Symbol {
        let record = self.instances[instance as usize];
        match instance {
            0 => self.class(0).name,
            _ => self.class(record.parent).submodels[record.submodel as usize].name,
        }
    }

    pub fn variable_name(&self, variable: u32) -> String {
        let record = self.variables[variable as usize];
        let decl = &self.class(record.instance).variables[record.slot as usize];
        let mut name = match record.instance {
            0 => String::new(),
            instance => format!("{}.", self.path(instance)),
        };
        name.push_str(&self.text(decl.name));
        if decl.array {
            name.push_str(&format!("[{}]", record.element + 1));
        }
        name
    }

    /// Gives an instance its shape, variables and submodels; returns the submodels.
    fn expand(&mut self, id: u32) -> Option<std::ops::Range<u32>> {
        let class_id = self.instances[id as usize].class;
        let class = self.classes.get(class_id);
        self.instances[id as usize].variables = self.variables.len() as u32;
        let shape = match class.has_arrays {
            false => self.plain_shape(id, class_id, class)?,
            true => self.sized_shape(id, class_id, class)?,
        };
        let submodels = &self.shapes[shape as usize].submodels;
        let children = submodels.last().map_or(0, |run| run.first + run.size);
        let total = self.instances.len() + children as usize;
        self.within_limit(total, 1, class.span, "instances of submodels")?;
        let first_child = self.instances.len() as u32;
        for (slot, submodel) in class.submodels.iter().enumerate() {
            let size = self.shapes[shape as usize].submodels[slot].size;
            let child = submodel.class?;
            for element in 0..size {
                glance();
                self.instances.push(Instance {
                    class: child,
                    parent: id,
                    submodel: slot as u32,
                    index: if submodel.array { element + 1 } else { 0 },
                    shape: PENDING,
                    variables: PENDING,
                    children: PENDING,
                });
            }
        }
        let record = &mut self.instances[id as usize];
        record.shape = shape;
        record.children = first_child;
        Some(first_child..self.instances.len() as u32)
    }

    fn add_variables(&mut self, instance: u32, slot: u32, size: u32) {
        for element in 0..size {
            glance();
            self.variables.push(Variable {
                instance,
                slot,
                element,
            });
            self.memo.push(Memo::Unknown);
        }
    }

    /// Checks a number of instances or variables against the limit. For variables the limit is
    /// larger by a factor, because an instance has several.
    pub fn within_limit(
        &mut self,
        count: usize,
        each: usize,
        span: Span,
        what: &str,
    ) -> Option<()> {
        let limit = self.limits.instances.saturating_mul(each);
        if count <= limit {
            return Some(());
        }
        self.exhausted = true;
        self.diagnostics.push(
            Diagnostic::new(
                Code::TooLarge,
                format!("the model is too large: more than {limit} {what}"),
            )
            .at(span, "reached here")
            .hint(match self.limits.fixed {
                true => "`--untrusted` sets this limit; a model that you trust does without",
                false => "`--max-instances N` sets another limit",
            }),
        );
        None
    }

    fn plain_shape(&mut self, id: u32, class_id: ClassId, class: &Class) -> Option<u32> {
        let total = self.variables.len() + class.variables.len();
        self.within_limit(total, EACH, class.span, "variables")?;
        for slot in 0..class.variables.len() as u32 {
            self.add_variables(id, slot, 1);
        }
        if let Some(&shape) = self.plain.get(&class_id) {
            return Some(shape);
        }
        let singles = |count: usize| (0..count as u32).map(|first| Run { first, size: 1 });
        let shape = self.shapes.len() as u32;
        self.shapes.push(Shape {
            variables: singles(class.variables.len()).collect(),
            submodels: singles(class.submodels.len()).collect(),
            nodes: singles(class.nodes.len()).collect(),
            cuts: vec![0; class.cuts.len()],
        });
        self.plain.insert(class_id, shape);
        Some(shape)
    }

    /// Places the single variables, then each array as soon as its size is known.
    fn sized_shape(&mut self, id: u32, class_id: ClassId, class: &'c Class) -> Option<u32> {
        let unplaced = Run {
            first: PENDING,
            size: 0,
        };
        self.building = Shape {
            variables: vec![unplaced; class.variables.len()],
            ..Shape::default()
        };
        let mut next = 0;
        let arrays = |wanted: bool| {
            (class.variables.iter().enumerate()).filter(move |(_, decl)| decl.array == wanted)
        };
        for (slot, decl) in arrays(false).chain(arrays(true)) {
            let size = match decl.size {
                None => 1,
                Some(size) => self.size(id, size, decl.name)?,
            };
            let total = self.variables.len() + size as usize;
            self.within_limit(total, EACH, decl.span, "variables")?;
            self.building.variables[slot] = Run { first: next, size };
            self.add_variables(id, slot as u32, size);
            next += size;
        }
        let submodels = class.submodels.iter().map(|d| (d.size, d.name, d.span));
        self.building.submodels = self.runs(id, submodels.collect())?;
        let nodes = class.nodes.iter().map(|d| (d.size, d.name, d.span));
        self.building.nodes = self.runs(id, nodes.collect())?;
        for cut in &class.cuts {
            let size = match cut.size {
                None => 0,
                Some(size) => self.size(id, size, cut.name)?,
            };
            self.building.cuts.push(size);
        }
        let shape = std::mem::take(&mut self.building);
        self.check_cut_sizes(class, &shape)?;
        let next = self.shapes.len() as u32;
        let known = *self.sized.entry((class_id, shape.clone())).or_insert(next);
        if known == next {
            self.shapes.push(shape);
        }
        Some(known)
    }

    fn runs(&mut self, id: u32, parts: Vec<(Option<Template>, Symbol, Span)>) -> Option<Vec<Run>> {
        let mut first = 0u32;
        let mut runs = Vec::with_capacity(parts.len());
        for (size, name, span) in parts {
            let size = match size {
                None => 1,
                Some(size) => self.size(id, size, name)?,
            };
            runs.push(Run { first, size });
            first = first.saturating_add(size);
            self.within_limit(first as usize, 1, span, "elements of arrays")?;
        }
        Some(runs)
    }

    /// Variables of an array of cuts are arrays of the same size.
    fn check_cut_sizes(&mut self, class: &Class, shape: &Shape) -> Option<()> {
        use super::class::{CutBody, Side};
        for (slot, cut) in class.cuts.iter().enumerate() {
            let CutBody::Simple { across, through } = &cut.body else {
                continue;
            };
            for side in [across, through] {
                let Side::Places(places) = side else { continue };
                for place in places.iter().flatten() {
                    let size = shape.variables[place.slot as usize].size;
                    if cut.array && size != shape.cuts[slot] {
                        let variable = &class.variables[place.slot as usize];
                        let name = self.text(variable.name);
                        let wanted = shape.cuts[slot];
                        self.diagnostics.push(
                            Diagnostic::new(
                                Code::BadSize,
                                format!("`{name}` has two sizes: {size} and {wanted}"),
                            )
                            .at(cut.span, format!("this cut has size {wanted}"))
                            .at(variable.span, format!("declared here with size {size}")),
                        );
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    /// The instances as the flat model keeps them.
    pub fn flat_instances(&self) -> Vec<flat::Instance> {
        // Counted once for each class and shape: there may be millions of instances.
        let mut pairs: FxHashMap<(ClassId, u32), u32> = FxHashMap::default();
        (0..self.instances.len() as u32)
            .map(|id| {
                let record = self.instances[id as usize];
                flat::Instance {
                    parent: flat::InstanceId(record.parent),
                    name: self.instance_name(id),
                    index: record.index,
                    class: self.class(id).name,
                    class_span: self.class(id).span,
                    span: match id {
                        0 => self.class(0).span,
                        _ => self.class(record.parent).submodels[record.submodel as usize].span,
                    },
                    pairs: *(pairs.entry((record.class, record.shape)))
                        .or_insert_with(|| self.pairs(id)),
                }
            })
            .collect()
    }

    /// Pairs of across and through variables in the cuts of an instance.
    fn pairs(&self, id: u32) -> u32 {
        let sizes = &self.shape(id).cuts;
        let cuts = self.class(id).cuts.iter().zip(sizes);
        cuts.map(|(cut, &size)| match cut.array {
            false => cut.body.pairs() as u32,
            true => cut.body.pairs() as u32 * size,
        })
        .sum()
    }
}
