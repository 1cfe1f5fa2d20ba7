//! The modes of a model with switches as C: functions for each mode, and a table of them.
//!
//! After: `MODEL_modes`. `MODEL_evaluate` and others call the functions of the mode that the run is in. A mode computes
//! all variables, also those that it eliminates, because the next mode may begin from them.

use std::fmt::Write;

use super::dialect::C;
use super::{Program, text};
use crate::export::model::Model;
use crate::export::statements::{Statements, blocks as shared, modes};
use crate::export::switched::{Mode, Switched};
use crate::export::write::{Dialect, Writer};
use crate::expr::BinaryOp;
use crate::expr::print::Text;
use crate::positions::Jump;

impl Program<'_> {
    pub fn modes(&mut self, switched: &Switched<'_>, dialects: &[C<'_>]) {
        self.file.push_str(MODE);
        for (at, (mode, c)) in switched.modes.iter().zip(dialects).enumerate() {
            let mut position = Program::new(&mode.model, c);
            position.suffix = format!("_{at}");
            let name = switched.positions.position_name(&mode.key);
            let _ = write!(
                position.file,
                "\n/* ---- The position {}. ---- */\n",
                super::comment(&name)
            );
            position.evaluate_here(self.model, mode);
            position.rates(&self.model.states, |rate| mode.has(rate));
            position.columns();
            if let Some(jump) = mode.jump {
                // It uses the variables of the model before any are eliminated.
                position.writer = Writer::new(mode.model.flat, &self.model.replacements, c);
                position.jump(jump);
            }
            position.tables(switched, mode);
            self.file.push_str(&position.file);
        }
        self.table(switched);
        self.dispatch(switched);
    }

    fn evaluate_here(&mut self, all: &Model<'_>, mode: &Mode<'_>) {
        self.loops();
        shared::blocks(self);
        self.writer.forget();
        shared::eliminated(self, |_| true);
        for &leaf in all.computed.iter().filter(|&&leaf| !mode.has(leaf)) {
            self.set(leaf, &Text::atom("NAN"));
        }
        let head = format!("static int MODEL_evaluate{}(MODEL *m)", self.suffix);
        self.function("", &head, "    return 0;\n");
    }

    /// The system for the jump into a mode, in all variables of the mode.
    fn jump(&mut self, jump: &Jump) {
        let suffix = self.suffix.clone();
        modes::jump(self, jump);
        self.prologue = "    double left = 0.0, right = 0.0;\n    (void)left, (void)right;\n";
        let head = format!(
            "static void MODEL_jump{suffix}(MODEL *m, const double *start, const double *now, double *rest, double *terms, double *a)"
        );
        let comment =
            "What jumps: equations that hold afterwards, and others integrated over the instant.";
        self.function(comment, &head, "    (void)start, (void)now;\n");
        let columns = jump.columns.iter().zip(&jump.impulsive).enumerate();
        for (at, (&leaf, &impulsive)) in columns.clone() {
            let value = match impulsive || !self.c.has(leaf) {
                true => "0.0".to_string(),
                false => format!("MODEL_or_zero({})", self.c.place(leaf)),
            };
            self.line(&format!("z[{at}] = {value};"));
        }
        let head = format!("static void MODEL_get{suffix}(MODEL *m, double *z)");
        self.function("", &head, "");
        for (at, (&leaf, &impulsive)) in columns {
            if !impulsive && self.c.has(leaf) {
                let place = self.c.place(leaf);
                self.line(&format!("{place} = z[{at}];"));
            }
        }
        let head = format!("static void MODEL_put{suffix}(MODEL *m, const double *z)");
        self.function("", &head, "    (void)z;\n");
        modes::lower(self, jump);
        self.prologue = "    double left = 0.0, right = 0.0, size = 0.0;\n    (void)left, (void)right, (void)size;\n";
        let head = format!("static int MODEL_apart{suffix}(MODEL *m)");
        let comment = "Of lower orders: this has to hold already.";
        self.function(comment, &head, "    return 0;\n");
    }

    /// The columns of the sides of relations in the system for the jump, and the relations whose sides a switch holds
    /// at zero.
    fn tables(&mut self, switched: &Switched<'_>, mode: &Mode<'_>) {
        let mut sides = String::new();
        for watch in &switched.positions.opened.watches {
            for side in [Some(watch.left), watch.right] {
                let _ = match mode.side(side) {
                    Some(at) => write!(sides, "{at}, "),
                    None => write!(sides, "-1, "),
                };
            }
        }
        let zero: String = (mode.at_zero.iter())
            .map(|&zero| format!("{}, ", u8::from(zero)))
            .collect();
        let suffix = &self.suffix;
        let _ = write!(
            self.file,
            "\nstatic const int MODEL_sides{suffix}[] = {{{sides}-1}}, MODEL_at_zero{suffix}[] = {{{zero}0}};\n"
        );
    }

    fn table(&mut self, switched: &Switched<'_>) {
        let file = &mut self.file;
        file.push_str(
            "\n/* Positions that are possible, */\nstatic const MODEL_mode MODEL_modes[] = {\n",
        );
        for (at, mode) in switched.modes.iter().enumerate() {
            let name = text(&switched.positions.position_name(&mode.key));
            let jump = match mode.jump {
                Some(jump) => format!(
                    "{}, MODEL_jump_{at}, MODEL_get_{at}, MODEL_put_{at}, MODEL_apart_{at}",
                    jump.columns.len()
                ),
                None => "0, NULL, NULL, NULL, NULL".to_string(),
            };
            let _ = writeln!(
                file,
                "    {{MODEL_evaluate_{at}, MODEL_rates_{at}, MODEL_columns_{at}, {jump}, MODEL_sides_{at}, MODEL_at_zero_{at}, {name}}},"
            );
        }
        file.push_str("};\n/* and where they are, by the truths of the switches as bits. */\nstatic const int MODEL_by_key[] = {");
        for (at, place) in switched.by_key.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let _ = write!(file, "{comma}{place}");
        }
        file.push_str("};\n\n/* Discrete variables that are switches by themselves. */\nstatic const int MODEL_own[] = {");
        for own in &switched.own {
            let _ = match own {
                Some(at) => write!(file, "{at}, "),
                None => write!(file, "-1, "),
            };
        }
        let _ = write!(
            file,
            "-1}};\nenum {{ MODEL_SWITCHES = {}, MODEL_MODES = {} }};\n",
            switched.own.len(),
            switched.modes.len()
        );
    }

    /// Functions that call those of the present mode.
    fn dispatch(&mut self, switched: &Switched<'_>) {
        for (at, switch) in switched.positions.switches.iter().enumerate() {
            let condition = self.value(switch.condition);
            let differs = self.c.infix(BinaryOp::NotEqual);
            let condition = differs.of(&condition, &Text::atom("0.0"));
            self.line(&format!("key |= ({} ? 1u : 0u) << {at};", condition.text));
        }
        self.prologue = "    unsigned key = 0;\n";
        let comment = "The truths of the switches, as they were computed last.";
        let head = "static unsigned MODEL_key(MODEL *m)";
        self.function(comment, head, "    return key;\n");
        self.own_inputs();
        let comment = "Computes everything from m->time, m->x, m->u, m->p, m->d and what is held. 0 if that went well.";
        let tail = "    return MODEL_modes[m->position].evaluate(m);\n";
        self.function(comment, "int MODEL_evaluate(MODEL *m)", tail);
        self.file.push_str(
            "
static void MODEL_rates(MODEL *m, double *rate) { MODEL_modes[m->position].rates(m, rate); }

/* What a run shows. */
int MODEL_columns(MODEL *m, double *column) { return MODEL_modes[m->position].columns(m, column); }
",
        );
    }
}

const MODE: &str = "
/* What a position of the switches computes. */
typedef struct {
    int (*evaluate)(MODEL *m);
    void (*rates)(MODEL *m, double *rate);
    int (*columns)(MODEL *m, double *column);
    /* What jumps when it begins: how many unknowns, none where nothing can; its equations; values that jump. */
    int size;
    void (*jump)(MODEL *m, const double *start, const double *now, double *rest, double *terms, double *a);
    void (*get)(MODEL *m, double *z);
    void (*put)(MODEL *m, const double *z);
    int (*apart)(MODEL *m);
    const int *sides;   /* of relations, where they have impulses */
    const int *at_zero; /* relations of what a switch holds at zero */
    const char *name;
} MODEL_mode;

static double MODEL_or_zero(double a) { return isnan(a) ? 0.0 : a; }
";
