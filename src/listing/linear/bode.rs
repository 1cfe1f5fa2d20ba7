//! Frequency responses as text, json, CSV and as a picture of two panels.

use serde::Serialize;
use serde::ser::SerializeMap;

use super::json::{Document, Fields};
use super::{short, title};
use crate::analyse::Analysed;
use crate::analyse::bode::Bode;
use crate::picture::chart::{Axis, Chart, Curve, Mark, Panel, Shape};
use crate::picture::{Series, Trajectories};

/// One response, from an input to an output.
#[derive(Debug)]
pub struct Shown<'a> {
    pub analysed: &'a Analysed,
    pub bode: &'a Bode,
    pub from: String,
    pub to: String,
}

/// The json of `bgm bode`.
#[derive(Debug)]
pub struct Body<'a>(&'a Shown<'a>);

#[derive(Serialize)]
struct MarginsJson {
    gain_db: Option<f64>,
    phase_deg: Option<f64>,
    gain_crossover: Option<f64>,
    phase_crossover: Option<f64>,
}

impl Fields for Body<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Shown { bode, from, to, .. } = self.0;
        let part = |of: fn(&faer::c64) -> f64| -> Vec<f64> { bode.values.iter().map(of).collect() };
        map.serialize_entry("from", from)?;
        map.serialize_entry("to", to)?;
        map.serialize_entry("frequency", &bode.frequency)?;
        map.serialize_entry("re", &part(|value| value.re))?;
        map.serialize_entry("im", &part(|value| value.im))?;
        let margins = bode.margins;
        map.serialize_entry(
            "margins",
            &MarginsJson {
                gain_db: margins.gain_db,
                phase_deg: margins.phase_deg,
                gain_crossover: margins.gain_crossover,
                phase_crossover: margins.phase_crossover,
            },
        )
    }
}

impl Shown<'_> {
    pub fn document(&self) -> Document<'_, Body<'_>> {
        Document {
            analysed: self.analysed,
            body: Body(self),
        }
    }

    pub fn csv(&self) -> String {
        let mut out = "frequency,magnitude_db,phase_deg\n".to_string();
        let rows = (self.bode.frequency.iter()).zip(self.bode.magnitude_db());
        for ((frequency, magnitude), phase) in rows.zip(self.bode.phase_deg()) {
            // A magnitude of zero has no decibels.
            let magnitude = match magnitude.is_finite() {
                true => format!("{magnitude:?}"),
                false => String::new(),
            };
            out.push_str(&format!("{frequency:?},{magnitude},{phase:?}\n"));
        }
        out
    }

    fn name(&self) -> String {
        let model = self.analysed.linear.flat().model();
        let mode = self.analysed.mode.as_ref();
        let mode = mode.map_or(String::new(), |mode| format!(" ({})", mode.name));
        format!("{model}: {} to {}{mode}", self.from, self.to)
    }

    /// `gain margin 12 dB at 3 Hz`
    fn margin_texts(&self) -> [Option<String>; 2] {
        let margins = self.bode.margins;
        let gain = margins.gain_db.zip(margins.phase_crossover);
        let phase = margins.phase_deg.zip(margins.gain_crossover);
        [
            gain.map(|(gain, at)| {
                format!("gain margin {} dB at {} Hz", rounded(gain), rounded(at))
            }),
            phase.map(|(phase, at)| {
                format!("phase margin {}° at {} Hz", rounded(phase), rounded(at))
            }),
        ]
    }

    /// What stands below a plot in the terminal.
    pub fn summary(&self) -> String {
        let mut out = title("FREQUENCY RESPONSE", self.analysed);
        out.push_str(&format!("FROM {} TO {}\n", self.from, self.to));
        let bode = self.bode;
        let (db, phase) = (bode.magnitude_db(), bode.phase_deg());
        for at in [0, bode.frequency.len() - 1] {
            out.push_str(&format!(
                "at {} Hz: {} dB, {} degrees\n",
                short(bode.frequency[at]),
                short(db[at]),
                short(phase[at])
            ));
        }
        let finite = db.iter().enumerate().filter(|(_, value)| value.is_finite());
        if let Some((at, value)) = finite.max_by(|a, b| a.1.total_cmp(b.1)) {
            let frequency = short(bode.frequency[at]);
            out.push_str(&format!(
                "largest: {} dB at {frequency} Hz\n",
                short(*value)
            ));
        }
        let [gain, phase] = self.margin_texts();
        out.push_str(&format!(
            "{}\n",
            gain.unwrap_or("no gain margin: the phase does not cross -180 degrees".into())
        ));
        out.push_str(&format!(
            "{}\n",
            phase.unwrap_or("no phase margin: the magnitude does not cross 0 dB".into())
        ));
        out.replace('°', " degrees")
    }

    /// Magnitude and phase over the logarithm of the frequency, for the terminal.
    pub fn panels(&self) -> [(String, Trajectories); 2] {
        let times: Vec<f64> = self
            .bode
            .frequency
            .iter()
            .map(|value| value.log10())
            .collect();
        let of = |name: &str, values: Vec<f64>| Trajectories {
            times: times.clone(),
            series: vec![Series::new(name, None, values)],
        };
        [
            (self.name(), of("magnitude [dB]", self.bode.magnitude_db())),
            (String::new(), of("phase [degrees]", self.bode.phase_deg())),
        ]
    }

    /// Two panels; margins are lines from the curve to 0 dB and to -180 degrees.
    pub fn chart(&self) -> Chart {
        const HEIGHT: f64 = 230.0;
        const BELOW: f64 = 60.0;
        let (mut db, phase) = (self.bode.magnitude_db(), self.bode.phase_deg());
        // A notch on the axis goes down without end: what is far below both ends and the middle is cut off.
        let ends = [db.first(), db.last(), db.get(db.len() / 2)];
        let lowest = ends
            .into_iter()
            .flatten()
            .fold(f64::INFINITY, |low, &of| low.min(of));
        db.iter_mut()
            .for_each(|value| *value = value.max(lowest - BELOW));
        let curve = |values: &[f64]| Curve {
            points: self
                .bode
                .frequency
                .iter()
                .copied()
                .zip(values.iter().copied())
                .collect(),
            colour: 0,
            dots: false,
        };
        let (low, high) = (self.bode.frequency.first(), self.bode.frequency.last());
        let inside =
            |at: f64| low.is_some_and(|low| *low <= at) && high.is_some_and(|high| at <= *high);
        // The phase of the curve where a margin is: the turn nearest to it.
        let phase_at = |at: f64| {
            let next = self
                .bode
                .frequency
                .partition_point(|&frequency| frequency < at);
            phase[next.min(phase.len() - 1)]
        };
        let margins = self.bode.margins;
        let (mut above, mut below) = (Vec::new(), Vec::new());
        let mut levels = Vec::new();
        if let (Some(gain), Some(at)) = (margins.gain_db, margins.phase_crossover)
            && inside(at)
        {
            above.push(Mark {
                at: (at, -gain),
                to: Some(0.0),
                words: format!("{} dB", rounded(gain)),
                shape: Shape::Dot,
            });
        }
        if let (Some(margin), Some(at)) = (margins.phase_deg, margins.gain_crossover)
            && inside(at)
        {
            let level = ((phase_at(at) - margin + 180.0) / 360.0).round() * 360.0 - 180.0;
            levels.push(level);
            below.push(Mark {
                at: (at, level + margin),
                to: Some(level),
                words: format!("{}°", rounded(margin)),
                shape: Shape::Dot,
            });
        } else if margins.phase_crossover.is_some_and(inside) {
            levels.push(-180.0);
        }
        let told: Vec<String> = self.margin_texts().into_iter().flatten().collect();
        Chart {
            title: self.name(),
            axis: Axis::Logarithmic,
            label: "Frequency [Hz]".to_string(),
            panels: vec![
                Panel {
                    label: "Magnitude [dB]".to_string(),
                    height: HEIGHT,
                    curves: vec![curve(&db)],
                    levels: vec![0.0],
                    marks: above,
                    degrees: false,
                },
                Panel {
                    label: "Phase [degrees]".to_string(),
                    height: HEIGHT,
                    curves: vec![curve(&phase)],
                    levels,
                    marks: below,
                    degrees: true,
                },
            ],
            note: (!told.is_empty()).then(|| told.join(", ")),
        }
    }
}

/// With four digits, for people.
fn rounded(value: f64) -> String {
    let text = format!("{value:.3e}");
    let value: f64 = text.parse().unwrap_or(value);
    crate::expr::show_number(value)
}
