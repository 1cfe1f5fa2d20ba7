//! The flat equations as text: one line each, behind the submodel where it was written.

use crate::expr::print::Style;
use crate::flat::{Equation, EquationKind, Flat, InstanceId, Printer, WhenId};

/// The first column is as wide as the longest name in it, within reason.
const WIDEST: usize = 32;

/// Default: full names everywhere. `Style::Classic`: the two columns of the 1990 paper, with names
/// as the submodel itself knows them.
pub fn equations(flat: &Flat, style: Style) -> String {
    let mut out = format!(
        "{}: {}, {}\n\n",
        flat.model(),
        count(flat.equation_count(), "equation"),
        count(flat.unknown_count(), "unknown"),
    );
    let mut listing = Listing {
        flat,
        style,
        width: width(flat),
        last: None,
        out: &mut out,
    };
    let mut open: Option<(WhenId, u16)> = None;
    for equation in &flat.equations {
        let next = match equation.kind {
            EquationKind::When(id, branch) => Some((id, branch)),
            _ => None,
        };
        listing.when_lines(open, next, equation.origin);
        listing.equation(equation, next.is_some());
        open = next;
    }
    listing.when_lines(open, None, InstanceId::TOP);
    out
}

/// `1 equation`, `18 equations`
pub fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

fn width(flat: &Flat) -> usize {
    let mut widest = flat.model().chars().count();
    let mut last = None;
    let mut path = String::new();
    for equation in &flat.equations {
        if last.replace(equation.origin) != Some(equation.origin) {
            path.clear();
            flat.write_path(equation.origin, InstanceId::TOP, &mut path);
            widest = widest.max(path.chars().count());
        }
    }
    widest.min(WIDEST)
}

struct Listing<'f> {
    flat: &'f Flat,
    style: Style,
    width: usize,
    last: Option<InstanceId>,
    out: &'f mut String,
}

impl Listing<'_> {
    /// The first column, blank when it is the same as above.
    fn begin(&mut self, origin: InstanceId) {
        let start = self.out.len();
        if self.last.replace(origin) != Some(origin) {
            match origin {
                InstanceId::TOP => self.out.push_str(self.flat.model()),
                _ => self.flat.write_path(origin, InstanceId::TOP, self.out),
            }
        }
        let written = self.out[start..].chars().count();
        let blanks = (self.width + 2).saturating_sub(written).max(2);
        self.out.extend(std::iter::repeat_n(' ', blanks));
    }

    fn equation(&mut self, equation: &Equation, indented: bool) {
        self.begin(equation.origin);
        if indented {
            self.out.push_str("  ");
        }
        let printer = printer(self.flat, self.style, equation.origin);
        printer.write(equation.left, self.out);
        self.out.push_str(" = ");
        printer.write(equation.right, self.out);
        self.out.push('\n');
    }

    /// Closes the `when` that ends here and opens the one that begins.
    fn when_lines(
        &mut self,
        open: Option<(WhenId, u16)>,
        next: Option<(WhenId, u16)>,
        origin: InstanceId,
    ) {
        if open == next {
            return;
        }
        let same = open.map(|(id, _)| id) == next.map(|(id, _)| id);
        if let (Some((id, _)), false) = (open, same) {
            self.begin(self.flat.whens[id.index()].origin);
            self.out.push_str("endwhen\n");
        }
        let Some((id, branch)) = next else { return };
        // Branches without equations are passed over, but their conditions count.
        let first = match open {
            Some((_, last)) if same => last + 1,
            _ => 0,
        };
        for at in first..=branch {
            self.begin(origin);
            let (condition, _) = self.flat.whens[id.index()].conditions[at as usize];
            self.out
                .push_str(if at == 0 { "when " } else { "elsewhen " });
            printer(self.flat, self.style, origin).write(condition, self.out);
            self.out.push_str(" then\n");
        }
    }
}

fn printer(flat: &Flat, style: Style, origin: InstanceId) -> Printer<'_> {
    Printer {
        flat,
        from: match style {
            Style::Plain => InstanceId::TOP,
            Style::Classic => origin,
        },
        style,
    }
}
