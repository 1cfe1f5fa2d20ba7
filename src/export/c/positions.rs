//! The positions of a model with switches as C: functions of each position, and a table of them.
//!
//! After: `MODEL_seats`, whose functions `MODEL_evaluate` and others call for the position that a run is in. A position computes all
//! variables, those that it eliminates too, as the next one may begin from them.

use std::fmt::Write;

use super::dialect::C;
use super::{Program, text};
use crate::export::model::Model;
use crate::export::statements::{Statements, blocks as shared, modes};
use crate::export::switched::{Seat, Switched};
use crate::export::write::{Dialect, Text, Writer};
use crate::positions::Jump;

impl Program<'_> {
    pub fn seats(&mut self, switched: &Switched<'_>, dialects: &[C<'_>]) {
        self.file.push_str(SEAT);
        for (at, (seat, c)) in switched.seats.iter().zip(dialects).enumerate() {
            let mut position = Program::new(&seat.model, c);
            position.suffix = format!("_{at}");
            let name = switched.positions.position_name(&seat.key);
            let _ = write!(
                position.file,
                "\n/* ---- The position {}. ---- */\n",
                super::comment(&name)
            );
            position.evaluate_here(self.model, seat);
            position.rates(&self.model.states, |rate| seat.has(rate));
            position.columns();
            if let Some(jump) = seat.jump {
                // In variables as they are before any is eliminated.
                position.writer = Writer::new(seat.model.flat, &self.model.gone, c);
                position.jump(jump);
            }
            position.tables(switched, seat);
            self.file.push_str(&position.file);
        }
        self.table(switched);
        self.dispatch(switched);
    }

    fn evaluate_here(&mut self, all: &Model<'_>, seat: &Seat<'_>) {
        self.loops();
        shared::blocks(self);
        self.writer.forget();
        shared::eliminated(self, |_| true);
        for &leaf in all.computed.iter().filter(|&&leaf| !seat.has(leaf)) {
            self.set(leaf, &Text::atom("NAN"));
        }
        let head = format!("static int MODEL_evaluate{}(MODEL *m)", self.suffix);
        self.function("", &head, "    return 0;\n");
    }

    /// The system of what jumps, in all variables of the position.
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

    /// Where the sides of relations are in the system of what jumps; relations that a switch holds at zero.
    fn tables(&mut self, switched: &Switched<'_>, seat: &Seat<'_>) {
        let mut sides = String::new();
        for watch in &switched.positions.opened.watches {
            for side in [Some(watch.left), watch.right] {
                let _ = match seat.side(side) {
                    Some(at) => write!(sides, "{at}, "),
                    None => write!(sides, "-1, "),
                };
            }
        }
        let zero: String = (seat.at_zero.iter())
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
            "\n/* Positions that are possible, */\nstatic const MODEL_seat MODEL_seats[] = {\n",
        );
        for (at, seat) in switched.seats.iter().enumerate() {
            let name = text(&switched.positions.position_name(&seat.key));
            let jump = match seat.jump {
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
            "-1}};\nenum {{ MODEL_SWITCHES = {}, MODEL_SEATS = {} }};\n",
            switched.own.len(),
            switched.seats.len()
        );
    }

    /// Functions that look for the position.
    fn dispatch(&mut self, switched: &Switched<'_>) {
        for (at, switch) in switched.positions.switches.iter().enumerate() {
            let condition = self.value(switch.condition);
            let condition = self.c.binary(
                crate::expr::BinaryOp::NotEqual,
                &condition,
                &Text::atom("0.0"),
            );
            self.line(&format!("key |= ({} ? 1u : 0u) << {at};", condition.text));
        }
        self.prologue = "    unsigned key = 0;\n";
        let comment = "The truths of the switches, as they were computed last.";
        let head = "static unsigned MODEL_key(MODEL *m)";
        self.function(comment, head, "    return key;\n");
        self.own_inputs();
        let comment = "Computes everything from m->time, m->x, m->u, m->p, m->d and what is held. 0 if that went well.";
        let tail = "    return MODEL_seats[m->position].evaluate(m);\n";
        self.function(comment, "int MODEL_evaluate(MODEL *m)", tail);
        self.file.push_str(
            "
static void MODEL_rates(MODEL *m, double *rate) { MODEL_seats[m->position].rates(m, rate); }

/* What a run shows. */
int MODEL_columns(MODEL *m, double *column) { return MODEL_seats[m->position].columns(m, column); }
",
        );
    }
}

const SEAT: &str = "
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
} MODEL_seat;

static double MODEL_or_zero(double a) { return isnan(a) ? 0.0 : a; }
";
