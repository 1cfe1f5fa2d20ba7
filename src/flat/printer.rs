//! Flat expressions as text, in .bgm syntax or in the style of the 1990 paper.

use rustc_hash::FxHashMap;

use super::{Flat, InstanceId, Leaf, VarId};
use crate::expr::print::{Form, Source, Style, write, write_at};
use crate::expr::{Args, ExprId, Node};

/// Prints flat expressions: with names seen from an instance, in one of the two styles.
#[derive(Clone, Copy, Debug)]
pub struct Printer<'f> {
    pub flat: &'f Flat,
    pub from: InstanceId,
    pub style: Style,
    /// Unknowns that are written in square brackets.
    pub marked: &'f [Leaf],
    /// Variables that are written with the name of another one: outputs for states, as in the 1990
    /// paper.
    pub renamed: &'f [(VarId, VarId)],
    /// Names to be used instead of those of the variables.
    pub names: Option<&'f Names>,
}

/// Names of variables, by variable.
pub type Names = FxHashMap<VarId, String>;

impl<'f> Printer<'f> {
    /// Full names.
    pub fn new(flat: &'f Flat) -> Self {
        Printer {
            flat,
            from: InstanceId::TOP,
            style: Style::Plain,
            marked: &[],
            renamed: &[],
            names: None,
        }
    }

    pub fn write(&self, id: ExprId, out: &mut String) {
        write(self, id, self.style, out);
    }

    /// With brackets unless it binds at least so strongly.
    pub fn write_at(&self, id: ExprId, least: u8, out: &mut String) {
        write_at(self, id, least, self.style, out);
    }
}

impl Source for Printer<'_> {
    type Leaf = Leaf;

    fn node(&self, id: ExprId) -> Node<Leaf> {
        self.flat.exprs.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.flat.exprs.args(args)
    }

    fn leaf(&self, leaf: Leaf, form: &mut Form<'_, u8>) {
        form.write(|out| Printer::leaf(self, leaf, out));
    }
}

impl Printer<'_> {
    /// Writes a variable, its derivative, or its next value.
    pub fn leaf(&self, leaf: Leaf, out: &mut String) {
        let (word, variable, order) = match leaf {
            Leaf::Var(v) => ("", v, 0),
            Leaf::Der(v, order) => ("der", v, order),
            Leaf::New(v) => ("new", v, 1),
            Leaf::Init(v) => ("init", v, 1),
            Leaf::Pre(v) => ("pre", v, 1),
        };
        let marked = self.marked.contains(&leaf);
        if marked {
            out.push('[');
        }
        let shown = match leaf {
            Leaf::Var(_) => (self.renamed.iter()).find(|(known, _)| *known == variable),
            _ => None,
        };
        let variable = shown.map_or(variable, |&(_, name)| name);
        match self.style {
            // `C1.dere`, as the papers print.
            Style::Classic => {
                self.flat.write_prefix(variable, self.from, out);
                for _ in 0..order {
                    out.push_str(word);
                }
                self.flat.write_last(variable, out);
            }
            Style::Plain => {
                for _ in 0..order {
                    out.push_str(word);
                    out.push('(');
                }
                match self.names.and_then(|names| names.get(&variable)) {
                    Some(name) => out.push_str(name),
                    None => self.flat.write_name(variable, self.from, out),
                }
                for _ in 0..order {
                    out.push(')');
                }
            }
        }
        if marked {
            out.push(']');
        }
    }
}
