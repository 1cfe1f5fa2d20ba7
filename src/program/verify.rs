//! What holds of a program: every register is written before it is read, and by one instruction of its part; steps cover the code in
//! order; what a run looks at afterwards has been computed by then.

use super::code::{Instruction, Op, Register};
use super::dump::X;
use super::{Loop, Part, Program, Step, System, WhenAction};
use crate::base::flaw::{Flaws, Place};
use crate::numeric::Coloring;

pub fn verify(program: &Program) -> Result<(), Flaws> {
    let count = program.registers.len();
    let mut verifier = Verifier {
        program,
        written: vec![false; count],
        by: vec![0; count],
        part: 0,
        place: "once",
        flaws: Flaws::default(),
    };
    verifier.given();
    verifier.part(|verifier| verifier.code(&program.once));
    for table in &program.tables {
        verifier.all("table", table.xs.iter().chain(&table.ys));
        let (xs, ys) = (table.xs.len(), table.ys.len());
        (verifier.flaws).unless(xs == ys, Place("table"), || {
            format!("{xs} abscissae for {ys} values")
        });
    }
    verifier.place = "held";
    verifier.part(|verifier| verifier.code(&program.held));
    let before = verifier.written.clone();
    verifier.place = "continuous";
    verifier.part(Verifier::continuous);
    let states = program.state_count();
    verifier.coloring("rates", &program.coloring, (states, states));
    verifier.written = before;
    verifier.place = "event";
    verifier.part(Verifier::event);
    verifier.flaws.into_result()
}

struct Verifier<'p> {
    program: &'p Program,
    /// What has a value.
    written: Vec<bool>,
    /// The part that wrote it last, from 1 on.
    by: Vec<u32>,
    part: u32,
    place: &'static str,
    flaws: Flaws,
}

impl<'p> Verifier<'p> {
    /// What has a value before anything runs.
    fn given(&mut self) {
        let program = self.program;
        let first = Program::TIME + 1;
        let states = first..first + program.states.len() as Register;
        let known = std::iter::once(Program::TIME)
            .chain(states)
            .chain(program.literals.iter().copied())
            .chain(program.given.iter().map(|&(_, register)| register))
            .chain(program.discretes.iter().map(|discrete| discrete.value))
            .chain(program.pres.iter().map(|&(kept, _)| kept))
            .chain(program.watches.iter().map(|watch| watch.held))
            .chain(program.samplers.iter().map(|sampler| sampler.held));
        for register in known {
            match self.written.get_mut(register as usize) {
                Some(written) => *written = true,
                None => (self.flaws).add(X(register), "it is given, but is no register"),
            }
        }
    }

    /// Each part writes a register once.
    fn part(&mut self, check: impl FnOnce(&mut Self)) {
        self.part += 1;
        check(self);
    }

    fn read(&mut self, register: Register, what: impl FnOnce() -> String) {
        let place = self.place;
        match self.written.get(register as usize) {
            Some(true) => {}
            Some(false) => (self.flaws).add(
                X(register),
                format!("{place}: {} before it is written", what()),
            ),
            None => (self.flaws).add(X(register), format!("{place}: {}, no register", what())),
        }
    }

    fn all<'r>(&mut self, what: &'static str, registers: impl IntoIterator<Item = &'r Register>) {
        for &register in registers {
            self.read(register, || format!("{what} reads it"));
        }
    }

    fn write(&mut self, register: Register) {
        let at = register as usize;
        if at >= self.written.len() {
            self.flaws.add(
                X(register),
                format!("{}: written, but no register", self.place),
            );
            return;
        }
        let place = self.place;
        (self.flaws).unless(self.by[at] != self.part, X(register), || {
            format!("{place}: it is written twice")
        });
        self.by[at] = self.part;
        self.written[at] = true;
    }

    fn code(&mut self, code: &[Instruction]) {
        for instruction in code {
            let Instruction { op, to, a, b, c } = *instruction;
            let reads_b = match op {
                Op::Table => {
                    let holds = (b as usize) < self.program.tables.len();
                    (self.flaws).unless(holds, X(to), || format!("there is no table {b}"));
                    false
                }
                Op::Whole => false,
                _ => true,
            };
            for register in [Some(a), reads_b.then_some(b), Some(c)]
                .into_iter()
                .flatten()
            {
                self.read(register, || format!("{op:?} to {:?} reads it", X(to)));
            }
            self.write(to);
        }
    }

    /// Runs steps until so many are done; `at` says what has to be there then.
    fn steps(&mut self, part: &'p Part, mut at: impl FnMut(&mut Self, usize)) {
        let (mut code, mut systems, mut loops) = (0, 0, 0);
        at(self, 0);
        for (number, step) in part.steps.iter().enumerate() {
            match step {
                Step::Code(range) => {
                    let holds = range.start == code && range.end <= part.code.len();
                    let place = Place(self.place);
                    (self.flaws).unless(holds, place, || {
                        format!("code {range:?} does not go on from {code}")
                    });
                    if let Some(inside) = part.code.get(range.clone()) {
                        self.code(inside);
                    }
                    code = range.end;
                }
                Step::System(of) => {
                    self.in_order("system", *of, systems);
                    systems += 1;
                    if let Some(system) = part.systems.get(*of) {
                        self.system(system);
                    }
                }
                Step::Loop(of) => {
                    self.in_order("loop", *of, loops);
                    loops += 1;
                    if let Some(of) = part.loops.get(*of) {
                        self.iterated(of);
                    }
                }
            }
            at(self, number + 1);
        }
        let whole =
            (code, systems, loops) == (part.code.len(), part.systems.len(), part.loops.len());
        let place = Place(self.place);
        (self.flaws).unless(whole, place, || {
            "its steps leave out code, a system or a loop".to_string()
        });
        self.all("a guard", &part.guards);
    }

    fn in_order(&mut self, what: &str, of: usize, next: usize) {
        let place = Place(self.place);
        (self.flaws).unless(of == next, place, || {
            format!("{what} {of} where {next} is next")
        });
    }

    fn system(&mut self, system: &System) {
        let size = system.unknowns.len();
        let place = Place(self.place);
        (self.flaws).unless(system.right.len() == size, place, || {
            format!("{} right sides for {size} unknowns", system.right.len())
        });
        // Within its shape the matrix is in order: its type sees to that.
        (self.flaws).unless(system.matrix.shape() == (size, size), place, || {
            let (rows, columns) = system.matrix.shape();
            format!("a matrix of {rows} by {columns} for {size} unknowns")
        });
        for &register in system.matrix.data() {
            self.read(register, || "a matrix reads it".to_string());
        }
        self.all("a right side", &system.right);
        for &unknown in &system.unknowns {
            self.write(unknown);
        }
    }

    /// Unknowns have their last values when it begins.
    fn iterated(&mut self, of: &Loop) {
        self.all("a loop", &of.externals);
        for &unknown in &of.unknowns {
            self.write(unknown);
        }
        self.code(&of.code);
        self.all("a residual", &of.residuals);
        let place = Place(self.place);
        let (rows, columns) = (of.residuals.len(), of.unknowns.len());
        let square = rows == columns || !of.selections.is_empty() && rows <= columns;
        (self.flaws).unless(square, place, || {
            format!("a loop of {rows} residuals for {columns} unknowns")
        });
        self.coloring("a loop", &of.coloring, (rows, columns));
        for &at in &of.selections {
            let holds = at < self.program.slots.len();
            (self.flaws).unless(holds, place, || format!("there is no selection {at}"));
        }
    }

    /// Columns of one colour have no row in common.
    fn coloring(&mut self, of: &str, coloring: &Coloring, shape: (usize, usize)) {
        let place = Place(self.place);
        let Coloring {
            pattern,
            colors,
            count,
        } = coloring;
        let fits = pattern.shape() == shape && colors.len() == shape.1;
        (self.flaws).unless(fits, place, || {
            let (rows, columns) = pattern.shape();
            let (wanted, colors) = (shape, colors.len());
            format!("{of}: a pattern of {rows} by {columns} in {colors} colours for {wanted:?}")
        });
        if !fits {
            return;
        }
        let mut last = vec![usize::MAX; shape.0];
        let mut columns: Vec<usize> = (0..shape.1).collect();
        columns.sort_by_key(|&column| colors[column]);
        for column in columns {
            let color = colors[column] as usize;
            let rows = pattern.outer_view(column);
            for &row in rows.iter().flat_map(|rows| rows.indices()) {
                (self.flaws).unless(last[row] != color && color < *count, place, || {
                    format!("{of}: column {column} cannot have the colour {color}")
                });
                last[row] = color;
            }
        }
    }

    fn continuous(&mut self) {
        let program = self.program;
        let part = &program.continuous;
        let (rates, watches) = (program.rate_steps, program.watch_steps);
        let held = rates <= watches && watches <= part.steps.len();
        (self.flaws).unless(held, Place("continuous"), || {
            format!(
                "{rates} steps for rates, {watches} for relations, {} in all",
                part.steps.len()
            )
        });
        // Where no step computes a column, rows are written without one.
        let columns = match program.rows_compute {
            true => part.steps.len(),
            false => 0,
        };
        self.steps(part, |verifier, done| {
            if done == rates {
                verifier.all("a rate", &program.rates);
            }
            if done == watches {
                let sides = program.watches.iter().map(|watch| watch.sides);
                for (left, right) in sides {
                    verifier.all("a relation", &[left, right]);
                }
            }
            if done == columns && columns > 0 {
                verifier.all("a column", &program.columns);
            }
        });
        for slots in &program.slots {
            let rates = slots.candidates.iter().map(|candidate| &candidate.rate);
            self.all("a candidate's rate", rates);
            let values = slots.candidates.iter().map(|candidate| &candidate.value);
            self.all("a candidate", values);
        }
    }

    fn event(&mut self) {
        let program = self.program;
        self.steps(&program.event, |_, _| ());
        self.all("a rate", &program.event_rates);
        for slots in &program.slots {
            let rates = slots
                .candidates
                .iter()
                .map(|candidate| &candidate.event_rate);
            self.all("a candidate's rate", rates);
        }
        for watch in &program.watches {
            let (left, right) = watch.event_sides;
            self.all("a relation", &[left, right]);
        }
        for sampler in &program.samplers {
            self.all("a sampler", &[sampler.start, sampler.period]);
        }
        for (_, now) in &program.pres {
            self.all("a value before an event", [now]);
        }
        let nexts = program.discretes.iter();
        self.all(
            "a next value",
            nexts.filter_map(|discrete| discrete.next.as_ref()),
        );
        for table in &program.tables {
            let argument = table.timed.map(|_| &table.argument);
            self.all("a table", argument);
        }
        for (condition, actions) in program.whens.iter().flat_map(|when| &when.branches) {
            self.all("a when", [condition]);
            for action in actions {
                let value = match action {
                    WhenAction::New { value, .. } | WhenAction::Restart { value, .. } => value,
                };
                self.all("a when", [value]);
            }
        }
        self.all(
            "a frame",
            program.frame.iter().map(|(_, register)| register),
        );
        self.all("a switch", &program.conditions);
    }
}
