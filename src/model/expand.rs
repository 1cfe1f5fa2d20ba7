//! Templates to flat expressions: names become variables of an instance.

use super::class::{Class, Slot, Template};
use super::flatten::Flattener;
use crate::expr::{ExprId, Function, Node, UnaryOp, Value};
use crate::flat::{Given, Leaf, VarId};

impl<'c> Flattener<'_, 'c> {
    /// The value of an expression that is known before the simulation.
    pub(super) fn given(
        &mut self,
        variable: u32,
        instance: u32,
        template: Template,
        element: u32,
    ) -> Option<Given> {
        let code = &self.tree.class(instance).code;
        let root = match code.node(template.root) {
            Node::List(args) => *code.args(args).get(element as usize)?,
            _ => template.root,
        };
        let first = code.firsts[root.index()];
        let value = self.tree.value(instance, root, &self.loops)?;
        self.expand(instance, first, root)?;
        Some(Given {
            variable: VarId(variable),
            value,
            expression: self.expr(first, root),
            span: code.spans[root.index()],
            depth: 0,
        })
    }

    pub(super) fn expr(&self, first: u32, id: ExprId) -> ExprId {
        self.exprs[(id.0 - first) as usize]
    }

    /// Instantiates the nodes `first..=last` of the class's code: one loop, operands first.
    pub(super) fn expand(&mut self, instance: u32, first: u32, last: ExprId) -> Option<()> {
        let class = self.tree.class(instance);
        let code = &class.code;
        let nothing = ExprId(u32::MAX);
        self.exprs.clear();
        for at in first..=last.0 {
            if code.numeric[at as usize] {
                // Part of an index: evaluated with the name it belongs to, never an expression.
                self.exprs.push(nothing);
                continue;
            }
            if let Node::Leaf(slot @ (Slot::Own { .. } | Slot::Deep(_))) = code.nodes[at as usize] {
                self.evaluate_indices(instance, class, slot)?;
            }
            let exprs = &self.exprs;
            let operand = |id: ExprId| exprs[(id.0 - first) as usize];
            let arena = &mut self.parts.exprs;
            let expr = match code.nodes[at as usize] {
                Node::Number(value) => arena.number(value.0),
                Node::Bool(value) => arena.bool(value),
                Node::Time => arena.time(),
                Node::Leaf(Slot::Loop(level)) => arena.number(self.loops[level as usize]),
                Node::Leaf(slot) => {
                    let values = &self.values;
                    let index = |wanted: ExprId| {
                        (values.iter().find(|&&(id, _)| id == wanted))
                            .map_or(Value::Real(0.0), |&(_, value)| value)
                    };
                    let span = code.spans[at as usize];
                    let variable = self.tree.variable(class, instance, slot, span, &index)?;
                    arena.leaf(Leaf::Var(VarId(variable)))
                }
                Node::Unary(UnaryOp::Plus, a) => operand(a),
                Node::Unary(op, a) => arena.unary(op, operand(a)),
                Node::Binary(op, a, b) => arena.binary(op, operand(a), operand(b)),
                Node::If(a, b, c) => arena.if_else(operand(a), operand(b), operand(c)),
                Node::Call(function, args) if function.takes_variable() => {
                    let Node::Leaf(leaf) = arena.node(operand(code.args(args)[0])) else {
                        return None;
                    };
                    arena.leaf(special(function, leaf))
                }
                Node::Call(function, args) => {
                    let args: Vec<ExprId> = code.args(args).iter().map(|&a| operand(a)).collect();
                    arena.call(function, &args)
                }
                Node::List(args) => {
                    let args: Vec<ExprId> = code.args(args).iter().map(|&a| operand(a)).collect();
                    arena.list(&args)
                }
            };
            self.exprs.push(expr);
        }
        Some(())
    }

    pub(super) fn evaluate_indices(
        &mut self,
        instance: u32,
        class: &'c Class,
        slot: Slot,
    ) -> Option<()> {
        self.values.clear();
        let (steps, last): (&[_], _) = match slot {
            Slot::Own { index, .. } => (&[], index),
            Slot::Deep(deep) => {
                let deep = &class.code.deep[deep as usize];
                (&deep.steps, deep.index)
            }
            Slot::Loop(_) | Slot::Unknown => return Some(()),
        };
        for id in (steps.iter().filter_map(|&(_, index)| index)).chain(last) {
            let value = self.tree.shaping_value(instance, id, &self.loops)?;
            self.values.push((id, value));
        }
        Some(())
    }
}

fn special(function: Function, leaf: Leaf) -> Leaf {
    let variable = leaf.variable();
    let order = match leaf {
        Leaf::Der(_, order) => order,
        _ => 0,
    };
    match function {
        Function::Der => Leaf::Der(variable, order.saturating_add(1)),
        Function::Der2 => Leaf::Der(variable, order.saturating_add(2)),
        Function::New => Leaf::New(variable),
        Function::Init => Leaf::Init(variable),
        _ => Leaf::Pre(variable),
    }
}
