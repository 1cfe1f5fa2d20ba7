//! Names of the flat model: paths of submodels, variables, derivatives, equations as text.

use super::{EqId, Flat, Instance, InstanceId, Junction, Leaf, PortId, Printer, VarId};
use crate::base::intern::Interner;
use crate::expr::ExprId;

impl Flat {
    /// `c[2].R1`, empty for the top; seen from the instance `from`.
    pub fn write_path(&self, id: InstanceId, from: InstanceId, out: &mut String) {
        write_path(&self.instances, &self.names, id, from, out);
    }

    pub fn path(&self, id: InstanceId) -> String {
        let mut out = String::new();
        self.write_path(id, InstanceId::TOP, &mut out);
        out
    }

    /// The declared node of a junction: `n0`, `p.n[2]`.
    pub fn node_name(&self, junction: &Junction) -> Option<String> {
        let (symbol, index) = junction.node?;
        let mut name = self.path(junction.origin);
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(self.names.name(symbol));
        if index > 0 {
            name.push_str(&format!("[{index}]"));
        }
        Some(name)
    }

    /// `C1.e`, or `e` seen from `C1`.
    pub fn write_name(&self, id: VarId, from: InstanceId, out: &mut String) {
        self.write_prefix(id, from, out);
        self.write_last(id, out);
    }

    pub(super) fn write_prefix(&self, id: VarId, from: InstanceId, out: &mut String) {
        let instance = self.variable(id).instance;
        if instance != from {
            self.write_path(instance, from, out);
            if instance != InstanceId::TOP {
                out.push('.');
            }
        }
    }

    pub(super) fn write_last(&self, id: VarId, out: &mut String) {
        out.push_str(self.names.name(self.declaration(id).name));
        push_index(self.variable(id).index, out);
    }

    pub fn name(&self, id: VarId) -> String {
        let mut out = String::new();
        self.write_name(id, InstanceId::TOP, &mut out);
        out
    }

    /// `C1.A`, `c[2].p[3]`, or `A` for a cut of the compiled model; with a separator of choice.
    pub fn port_name(&self, id: PortId, separator: char) -> String {
        let port = self.ports.get(id);
        let mut out = self.path(port.instance);
        if port.instance != InstanceId::TOP {
            out.push(separator);
        }
        out.push_str(self.names.name(port.name));
        push_index(port.index, &mut out);
        out
    }

    /// `C1.e`, `der(C1.e)`
    pub fn leaf_name(&self, leaf: Leaf) -> String {
        let mut out = String::new();
        Printer::new(self).leaf(leaf, &mut out);
        out
    }

    /// `C1.C*der(C1.e) = C1.f`
    pub fn equation_text(&self, id: EqId) -> String {
        let equation = &self.equations[id.index()];
        let printer = Printer::new(self);
        let mut text = String::new();
        printer.write(equation.left, &mut text);
        text.push_str(" = ");
        printer.write(equation.right, &mut text);
        text
    }

    /// An expression in .bgm syntax with full names.
    pub fn expression(&self, id: ExprId) -> String {
        let mut out = String::new();
        Printer::new(self).write(id, &mut out);
        out
    }
}

/// The path of an instance, seen from `from`, which is one of its ancestors.
pub fn write_path(
    instances: &[Instance],
    names: &Interner,
    id: InstanceId,
    from: InstanceId,
    out: &mut String,
) {
    let mut way = Vec::new();
    let mut at = id;
    while at != from && at != InstanceId::TOP {
        way.push(at);
        at = instances[at.index()].parent;
    }
    for (step, &at) in way.iter().rev().enumerate() {
        if step > 0 {
            out.push('.');
        }
        let instance = &instances[at.index()];
        out.push_str(names.name(instance.name));
        push_index(instance.index, out);
    }
}

fn push_index(index: u32, out: &mut String) {
    if index > 0 {
        out.push_str(&format!("[{index}]"));
    }
}
