//! Events in SIMNON: a discrete system that reads the continuous one, and a system that connects the two.
//!
//! The discrete system runs in each step of output, and when a sample is due. Its states are the discrete variables,
//! the truths of conditions at its last run, and the times of the next samples.

use super::super::classic::text::{
    Dialect, arithmetic, number as number_text, real, text_unsampled,
};
use super::super::classic::{Change, Happening, Update};
use super::super::desire::call;
use super::{LANGUAGE, Writer, line};
use crate::expr::op::precedence as level;
use crate::expr::print::Text;
use crate::expr::{BinaryOp, ExprId, Function, Node};
use crate::flat::{Kind, Leaf};

impl Writer<'_> {
    /// The variables that the discrete system needs of the continuous one.
    pub(super) fn outside(&self) -> Vec<Leaf> {
        let flat = self.model.flat;
        let mut found = Vec::new();
        for leaf in self.mentioned() {
            let kind = flat.variable(leaf.variable()).kind;
            if !matches!(kind, Kind::Parameter | Kind::Constant | Kind::Discrete) {
                found.push(leaf);
            }
        }
        found
    }

    /// The variables in updates, each once.
    fn mentioned(&self) -> Vec<Leaf> {
        let exprs = &self.model.flat.exprs;
        let mut found: Vec<Leaf> = Vec::new();
        let mut work: Vec<ExprId> = Vec::new();
        work.extend(self.model.updates.iter().map(|update| update.value));
        work.extend(self.model.conditions.iter().map(|one| one.expression));
        work.extend(self.model.samplers.iter().map(|one| one.period));
        while let Some(id) = work.pop() {
            match exprs.node(id) {
                Node::Leaf(leaf) => match self.model.gone.get(&leaf) {
                    Some(&expression) => work.push(expression),
                    None if found.contains(&leaf) => {}
                    None => found.push(leaf),
                },
                // The samplers know the times of samples.
                Node::Call(Function::Sample, _) => {}
                _ => exprs.operands(id, &mut work),
            }
        }
        found.sort_by_key(|leaf| leaf.variable());
        found
    }

    /// Which samples are due, and their next times.
    fn samples(&self, out: &mut String) -> Result<(), String> {
        let all = self.model.samplers.iter().zip(&self.simnon.named.ticks);
        for ((sampler, (due, next)), later) in all.zip(self.later) {
            let soon = number_text(1e-6 * sampler.seconds);
            let soon = arithmetic(BinaryOp::Sub, &Text::atom(next), &soon);
            out.push_str(&format!("{due} = if t < {} then 0 else 1\n", soon.text));
            let period = self.condition(sampler.period)?;
            let then = arithmetic(BinaryOp::Add, &Text::atom(next), &period);
            let next = self.simnon.choice(
                &Text::new(format!("{due} > 0.5"), level::RELATION),
                &then,
                &Text::atom(next),
            );
            out.push_str(&format!("{later} = {}\n", next.text));
        }
        Ok(())
    }

    /// When the system runs next: in each step of output and when a sample is due; if everything waits for samples,
    /// only then.
    fn next_look(&self, out: &mut String) {
        let model = self.model;
        let waits = |update: &Update| update.when.is_some_and(|at| model.conditions[at].sampled);
        let watches = !model.updates.iter().all(waits);
        let mut looks: Vec<Text> = Vec::new();
        if watches {
            looks.push(Text::new("t + h", level::SUM));
        }
        looks.extend(self.later.iter().map(Text::atom));
        let first = looks
            .into_iter()
            .reduce(|one, other| call("min", &[one, other]));
        if let Some(first) = first {
            out.push_str(&format!("ts = {}\n", first.text));
        }
        if watches {
            out.push_str(&format!("h: {}\n", real(model.step)));
        }
    }

    pub(super) fn events(
        &self,
        changes: &[Change],
        system: &str,
        outside: &[Leaf],
        out: &mut String,
    ) -> Result<(), String> {
        let model = self.model;
        let new = |change: &Change| self.name(Leaf::New(change.target.variable()));
        out.push_str("\nDISCRETE SYSTEM Events\n");
        line(out, "INPUT", outside.iter().map(|&leaf| self.name(leaf)));
        let outputs = model.discretes.iter().map(|one| self.name(one.leaf));
        line(out, "OUTPUT", outputs);
        let Happening { edges, ticks } = &self.simnon.named;
        let kept = || model.kept(&self.simnon.named);
        let states = (changes.iter().map(|change| self.name(change.target)))
            .chain(kept().map(|(_, (_, was))| was.clone()))
            .chain(ticks.iter().map(|(_, next)| next.clone()));
        line(out, "STATE", states);
        let names = (changes.iter().map(new))
            .chain(kept().map(|(_, (now, _))| now.clone()))
            .chain(self.later.iter().cloned());
        line(out, "NEW", names);
        out.push_str("TIME t\nTSAMP ts\n");
        self.samples(out)?;
        for (condition, (now, _)) in kept() {
            let kept = text_unsampled(model, self.simnon, LANGUAGE, condition.expression)?;
            out.push_str(&format!("{now} = if {} then 1 else 0\n", kept.text));
        }
        for change in changes {
            let mut made = Text::atom(self.name(change.target));
            for &at in &change.updates {
                let update = &model.updates[at];
                let value = match model.flat.is_boolean(update.value) {
                    true => Text::new(self.value(update.value)?, level::IF),
                    false => self.condition(update.value)?,
                };
                let Some(when) = update.when else {
                    made = value;
                    continue;
                };
                let condition = &model.conditions[when];
                let mut becomes = self.condition(condition.expression)?;
                if !condition.momentary {
                    let below = format!("{} < 0.5", edges[when].1);
                    let below = Text::new(below, level::RELATION);
                    becomes = self.simnon.logic(true, &becomes, &below);
                }
                for &earlier in &condition.earlier {
                    let other = self.condition(model.conditions[earlier].expression)?;
                    let not = self.simnon.not(&other);
                    becomes = self.simnon.logic(true, &becomes, &not);
                }
                made = self.simnon.choice(&becomes, &value, &made);
            }
            out.push_str(&format!("{} = {}\n", new(change), made.text));
        }
        self.next_look(out);
        for one in &model.discretes {
            out.push_str(&format!(
                "{}: {}\n",
                self.name(one.leaf),
                real(one.value.number())
            ));
        }
        for (condition, (_, was)) in kept() {
            out.push_str(&format!("{was}: {}\n", u8::from(condition.holds)));
        }
        for (sampler, (_, next)) in model.samplers.iter().zip(ticks) {
            out.push_str(&format!("{next}: {}\n", real(sampler.next)));
        }
        let flat = model.flat;
        for leaf in self.mentioned() {
            if matches!(
                flat.variable(leaf.variable()).kind,
                Kind::Parameter | Kind::Constant
            ) {
                out.push_str(&self.parameter(leaf.variable()));
            }
        }
        out.push_str("END\n\nCONNECTING SYSTEM Connect\n");
        for &leaf in outside {
            let name = self.name(leaf);
            out.push_str(&format!("{name}[Events] = {name}[{system}]\n"));
        }
        for one in &model.discretes {
            let name = self.name(one.leaf);
            out.push_str(&format!("{name}[{system}] = {name}[Events]\n"));
        }
        out.push_str("END\n");
        Ok(())
    }
}
