//! Flat expressions as text of a model: variables by other names than they had.

use rustc_hash::FxHashMap;

use crate::expr::print::{Piece, Source, Style, write};
use crate::expr::{Args, ExprId, Node};
use crate::flat::{Flat, Leaf, VarId};

/// Names in place of those that the flat model has.
pub type Names = FxHashMap<VarId, String>;

struct Renamed<'f> {
    flat: &'f Flat,
    names: &'f Names,
}

impl Source for Renamed<'_> {
    type Leaf = Leaf;

    fn node(&self, id: ExprId) -> Node<Leaf> {
        self.flat.exprs.node(id)
    }

    fn args(&self, args: Args) -> &[ExprId] {
        self.flat.exprs.args(args)
    }

    fn leaf(&self, leaf: Leaf, out: &mut String) -> Option<Vec<Piece>> {
        let Some(name) = self.names.get(&leaf.variable()) else {
            out.push_str(&self.flat.leaf_name(leaf));
            return None;
        };
        let (word, times) = match leaf {
            Leaf::Var(_) => ("", 0),
            Leaf::Der(_, order) => ("der(", order),
            Leaf::New(_) => ("new(", 1),
            Leaf::Init(_) => ("init(", 1),
            Leaf::Pre(_) => ("pre(", 1),
        };
        for _ in 0..times {
            out.push_str(word);
        }
        out.push_str(name);
        for _ in 0..times {
            out.push(')');
        }
        None
    }
}

/// An expression, as the body of the model can have it.
pub fn text(flat: &Flat, names: &Names, id: ExprId) -> String {
    let mut out = String::new();
    write(&Renamed { flat, names }, id, Style::Plain, &mut out);
    out
}
