//! How large expressions are on paper, which decides the form they are written in.
//!
//! Before: an arena. After: [`Sizes`], one entry for each expression, computed in one loop from the
//! leaves up.

use crate::expr::{Arena, BinaryOp, ExprId, Function, Leaf, Node, show_number};

/// The greatest width, in letters, of what cannot be broken into lines. A line of the page has
/// about 60 letters.
pub(super) const NARROW: u32 = 44;

/// The deepest nesting of fractions and cases.
const DEEPEST: u8 = 2;

/// The most lines of cases.
const MOST_ROWS: u8 = 8;

/// The names of the leaves.
pub trait Names<L> {
    fn write(&self, leaf: L, out: &mut String);
    /// The approximate width in letters.
    fn width(&self, leaf: L) -> u32;
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    /// The approximate width in letters.
    pub width: u32,
    /// The nesting depth of fractions, cases and roots; 0 is as high as a line of text.
    pub depth: u8,
    /// The number of lines, for cases.
    pub rows: u8,
    /// Whether it is written in two dimensions: a fraction, cases, a root, a power.
    pub stacked: bool,
}

/// The sizes of all expressions of an arena.
#[derive(Debug)]
pub struct Sizes {
    sizes: Vec<Size>,
}

impl Sizes {
    pub fn new<L: Leaf>(arena: &Arena<L>, names: &impl Names<L>) -> Self {
        let mut sizes: Vec<Size> = Vec::with_capacity(arena.len());
        for at in 0..arena.len() as u32 {
            let size = measure(arena, names, &sizes, arena.node(ExprId(at)));
            sizes.push(size);
        }
        Sizes { sizes }
    }

    pub(super) fn of(&self, id: ExprId) -> Size {
        self.sizes[id.index()]
    }
}

fn measure<L: Leaf>(
    arena: &Arena<L>,
    names: &impl Names<L>,
    sizes: &[Size],
    node: Node<L>,
) -> Size {
    let of = |id: ExprId| sizes[id.index()];
    // Expressions side by side, with `more` letters between them.
    let beside = |ids: &[ExprId], more: u32| Size {
        width: (ids.iter()).fold(more, |sum, &id| sum.saturating_add(of(id).width + 1)),
        depth: ids.iter().map(|&id| of(id).depth).max().unwrap_or(0),
        ..Size::default()
    };
    // Expressions above each other, if they are narrow and not nested too deeply.
    let stacked = |width: u32, line: Size| match width <= NARROW && line.depth < DEEPEST {
        true => Size {
            width,
            depth: line.depth + 1,
            rows: 1,
            stacked: true,
        },
        false => line,
    };
    let line = |width: usize| Size {
        width: width as u32,
        ..Size::default()
    };
    match node {
        Node::Number(value) => line(show_number(value.0).len()),
        Node::Bool(_) | Node::Time => line(4),
        Node::Leaf(leaf) => Size {
            width: names.width(leaf),
            ..Size::default()
        },
        Node::Unary(_, a) => beside(&[a], 2),
        Node::Binary(BinaryOp::Div, a, b) => {
            stacked(of(a).width.max(of(b).width) + 1, beside(&[a, b], 4))
        }
        Node::Binary(BinaryOp::Pow, a, b) => {
            let line = beside(&[a, b], 4);
            // The base of a power can be broken into lines, its exponent cannot.
            Size {
                stacked: of(b).width <= NARROW && of(b).depth == 0,
                ..line
            }
        }
        Node::Binary(BinaryOp::Mul, a, b) => beside(&[a, b], 2),
        Node::Binary(_, a, b) => beside(&[a, b], 3),
        Node::If(condition, then, otherwise) => {
            let rest = of(otherwise);
            let more = match arena.node(otherwise) {
                Node::If(..) if rest.stacked => rest,
                _ => Size { rows: 1, ..rest },
            };
            let row = of(condition).width.saturating_add(of(then).width);
            let width = row.saturating_add(6).max(rest.width);
            let line = beside(&[condition, then, otherwise], 12);
            let inner = beside(&[condition, then], 0).depth;
            let inner = inner.max(match more.rows {
                1 => rest.depth,
                _ => rest.depth.saturating_sub(1),
            });
            let cases = stacked(
                width,
                Size {
                    depth: inner,
                    ..line
                },
            );
            // A chain of `if`s that is too long for cases is written in one line from its
            // beginning.
            let broken = matches!(arena.node(otherwise), Node::If(..)) && !rest.stacked;
            match cases.stacked && more.rows < MOST_ROWS && !broken {
                true => Size {
                    rows: more.rows + 1,
                    ..cases
                },
                false => line,
            }
        }
        Node::Call(Function::Sqrt, args) => {
            // A root does not make its argument smaller.
            let line = beside(arena.args(args), 2);
            match line.width <= NARROW {
                true => Size {
                    depth: line.depth.max(1),
                    stacked: true,
                    ..line
                },
                false => line,
            }
        }
        Node::Call(function, args) => beside(arena.args(args), function.text().len() as u32 + 2),
        Node::List(args) => beside(arena.args(args), 2),
    }
}
