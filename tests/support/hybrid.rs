//! A plain simulator for judging: Runge and Kutta's method of order 4 with a small fixed step, instants that are known, and guards
//! whose zeros are found by bisection. Slow, and nothing of bgm.

/// States, and what changes at events only.
pub type State = Vec<f64>;
type Rates<'a> = dyn Fn(f64, &[f64], &[f64]) -> State + 'a;
type Acts<'a> = dyn Fn(Event, f64, &mut State, &mut State) + 'a;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A guard became negative.
    Guard(usize),
    /// One of the instants that are known, by its place in the list.
    Instant(usize),
}

pub struct Hybrid<'a> {
    pub rates: &'a Rates<'a>,
    /// An event is where one of these becomes negative.
    pub guards: &'a Rates<'a>,
    pub act: &'a Acts<'a>,
    /// Ascending.
    pub instants: Vec<f64>,
    pub step: f64,
}

/// Guards that change more slowly are not judged: it would be a matter of rounding whether they become negative at all.
const SLOPE: f64 = 1e-4;
const MOST_EVENTS: usize = 400;

impl Hybrid<'_> {
    fn stepped(&self, time: f64, x: &[f64], kept: &[f64], h: f64) -> State {
        let along =
            |k: &[f64], by: f64| -> State { x.iter().zip(k).map(|(x, k)| x + by * k).collect() };
        let k1 = (self.rates)(time, x, kept);
        let k2 = (self.rates)(time + h / 2.0, &along(&k1, h / 2.0), kept);
        let k3 = (self.rates)(time + h / 2.0, &along(&k2, h / 2.0), kept);
        let k4 = (self.rates)(time + h, &along(&k3, h), kept);
        (0..x.len())
            .map(|at| x[at] + h / 6.0 * (k1[at] + 2.0 * k2[at] + 2.0 * k3[at] + k4[at]))
            .collect()
    }

    /// States and what is kept at some times, ascending; `Err` says why there is no answer.
    pub fn run(
        &self,
        mut x: State,
        mut kept: State,
        times: &[f64],
    ) -> Result<Vec<(State, State)>, &'static str> {
        let mut rows = Vec::new();
        let mut time = 0.0;
        let mut events = 0;
        let mut next_instant = 0;
        for &until in times {
            while time < until {
                let mut end = (time + self.step).min(until);
                let instant = self.instants.get(next_instant).copied();
                let due = instant.is_some_and(|at| at <= end);
                if let (true, Some(at)) = (due, instant) {
                    end = at;
                }
                let before = (self.guards)(time, &x, &kept);
                let reach = |h: f64| {
                    let after = self.stepped(time, &x, &kept, h);
                    let guards = (self.guards)(time + h, &after, &kept);
                    let first = (before.iter().zip(&guards))
                        .position(|(&before, &after)| before >= 0.0 && after < 0.0);
                    (after, first)
                };
                let h = end - time;
                let (after, hit) = reach(h);
                if hit.is_some() {
                    let (mut low, mut high) = (0.0, h);
                    for _ in 0..60 {
                        let middle = 0.5 * (low + high);
                        match reach(middle).1 {
                            Some(_) => high = middle,
                            None => low = middle,
                        }
                    }
                    let (after, found) = reach(high);
                    let at = found.ok_or("a guard is lost")?;
                    let slope = {
                        let here = (self.guards)(time + high, &after, &kept)[at];
                        let h = 1e-7;
                        let later = self.stepped(time + high, &after, &kept, h);
                        ((self.guards)(time + high + h, &later, &kept)[at] - here) / h
                    };
                    if slope > -SLOPE {
                        return Err("an event is grazed");
                    }
                    time += high;
                    x = after;
                    events += 1;
                    (self.act)(Event::Guard(at), time, &mut x, &mut kept);
                } else {
                    (time, x) = (end, after);
                    if due {
                        (self.act)(Event::Instant(next_instant), time, &mut x, &mut kept);
                        next_instant += 1;
                    }
                }
                if events > MOST_EVENTS {
                    return Err("there are too many events");
                }
                if x.iter().any(|value| !(value.abs() < 1e6)) {
                    return Err("it grows too large");
                }
            }
            rows.push((x.clone(), kept.clone()));
        }
        Ok(rows)
    }
}
