//! Preferences of the user for the causality of storages and resistors, where there is a choice.

use crate::base::diagnostics::nearest;
use crate::bond::graph::{ElementKind, Graph, NodeId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Integral,
    Derivative,
    Resistance,
    Conductance,
}

impl Wanted {
    pub fn text(self) -> &'static str {
        match self {
            Wanted::Integral => "integral",
            Wanted::Derivative => "derivative",
            Wanted::Resistance => "resistance",
            Wanted::Conductance => "conductance",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    pub node: NodeId,
    pub wanted: Wanted,
}

#[derive(Clone, Debug, Default)]
pub struct Preferences {
    /// In the order in which they were given.
    pub list: Vec<Preference>,
}

impl Preferences {
    pub fn of(&self, node: NodeId) -> Option<(usize, Wanted)> {
        let mut all = self.list.iter().enumerate();
        all.find(|(_, one)| one.node == node)
            .map(|(at, one)| (at, one.wanted))
    }

    /// Reads texts such as `I2=derivative`. An error is a message to the user.
    pub fn read(graph: &Graph, texts: &[String]) -> Result<Preferences, String> {
        let mut list: Vec<Preference> = Vec::new();
        for text in texts.iter().flat_map(|text| text.split(',')) {
            let Some((name, wanted)) = text.split_once('=') else {
                return Err(format!(
                    "`--prefer {text}`: write NAME=CAUSALITY, as in `--prefer I2=derivative`"
                ));
            };
            let (name, wanted) = (name.trim(), wanted.trim());
            let wanted = [
                Wanted::Integral,
                Wanted::Derivative,
                Wanted::Resistance,
                Wanted::Conductance,
            ]
            .into_iter()
            .find(|known| known.text() == wanted)
            .ok_or_else(|| {
                format!(
                    "`--prefer {text}`: `{wanted}` is not a causality; there are integral and derivative (C, I), resistance and conductance (R)"
                )
            })?;
            let found = (graph.elements()).find(|&(id, _)| graph.node(id).name == name);
            let Some((node, element)) = found else {
                let names = (graph.elements()).map(|(id, _)| graph.node(id).name.as_str());
                let hint = nearest(name, names)
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(format!(
                    "`--prefer {text}`: there is no element `{name}` in the bond graph{hint}"
                ));
            };
            let storage = matches!(wanted, Wanted::Integral | Wanted::Derivative);
            let fits = match element.kind {
                ElementKind::C | ElementKind::I => storage,
                ElementKind::R | ElementKind::RS => !storage,
                _ => false,
            };
            if !fits {
                let possible = match element.kind {
                    ElementKind::C | ElementKind::I => {
                        "its causality can be integral or derivative"
                    }
                    ElementKind::R | ElementKind::RS => {
                        "its causality can be resistance or conductance"
                    }
                    ElementKind::Se | ElementKind::Sf => "the causality of a source is fixed",
                    _ => "its causality follows from its neighbours",
                };
                return Err(format!(
                    "`--prefer {text}`: `{name}` is of kind {}; {possible}",
                    element.label()
                ));
            }
            if list.iter().any(|one| one.node == node) {
                return Err(format!("`--prefer {text}`: `{name}` is named twice"));
            }
            list.push(Preference { node, wanted });
        }
        Ok(Preferences { list })
    }
}
