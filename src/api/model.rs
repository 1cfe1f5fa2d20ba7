//! Models and their loader.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use super::error::{Error, Message};
use super::files::CachedFiles;
use crate::base::source::Sources;
use crate::compile::{LoadedFlat, Options, load_flat};
use crate::experiment::Request;
use crate::flat::Flat;
use crate::syntax::load::{Files, Input, NoFiles};

/// The file name that messages show for a text without a file.
const TEXT: &str = "model.bgm";

/// Says how a model is loaded: which one of the file, with which values.
///
/// ```
/// let model = bgm::Loader::new()
///     .set("R1.R", 50)
///     .init("C1.u", 3)
///     .text("
/// @electrical
/// model Charge
///   submodel (VoltageSource) U0
///   submodel (Resistor) R1(R = 100)
///   submodel (Capacitor) C1(C = 1E-6) (ic u = 2)
///   submodel Ground
///   output y
///   U0.E0 = 10
///   connect Ground - U0 - R1 - C1 - Ground
///   y = C1.u
/// end")?;
/// assert_eq!(model.at(&[])?.get("R1.i"), Some(0.14));
/// # Ok::<(), bgm::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Loader {
    options: Options,
}

impl Loader {
    pub fn new() -> Loader {
        Loader::default()
    }

    /// Selects a model of the file; default: the last one.
    #[must_use]
    pub fn model(mut self, name: &str) -> Loader {
        self.options.model = Some(name.to_string());
        self
    }

    /// Selects the experiment that gives parameters, start values and inputs.
    #[must_use]
    pub fn experiment(mut self, name: &str) -> Loader {
        self.options.request.experiment = Some(name.to_string());
        self
    }

    /// Sets a parameter: `set("R1.R", 50)`.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Display) -> Loader {
        self.options.request.set.push(format!("{name}={value}"));
        self
    }

    /// Sets a start value: `init("C1.u", 2)`.
    #[must_use]
    pub fn init(mut self, name: &str, value: impl Display) -> Loader {
        self.options.request.init.push(format!("{name}={value}"));
        self
    }

    /// Sets an input to an expression: `input("u", "10*sin(314*Time)")`.
    #[must_use]
    pub fn input(mut self, name: &str, expression: impl Display) -> Loader {
        let given = format!("{name}={expression}");
        self.options.request.input.push(given);
        self
    }

    /// Adds a folder in which includes are searched, after the folder of the file.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Loader {
        self.options.folders.push(folder.into());
        self
    }

    /// Compiles a text. It can include the standard library, but no files.
    pub fn text(self, text: &str) -> Result<Model, Error> {
        let input = Input::Revised(PathBuf::from(TEXT), text.to_string());
        self.load(input, Box::new(NoFiles))
    }

    /// Compiles a file that is read through `files`, with all that it includes.
    #[doc(hidden)]
    pub fn through(self, path: &Path, files: Box<dyn Files>) -> Result<Model, Error> {
        self.load(Input::File(path.to_path_buf()), files)
    }

    fn load(self, input: Input, files: Box<dyn Files>) -> Result<Model, Error> {
        let files = CachedFiles::new(files);
        let LoadedFlat {
            sources,
            flat,
            diagnostics,
        } = load_flat(&input, &self.options, &files);
        let Some(flat) = flat else {
            return Err(Error::new(&sources, &diagnostics));
        };
        Ok(Model {
            warnings: Message::all(&sources, &diagnostics),
            input,
            options: self.options,
            files,
            sources,
            flat,
        })
    }
}

/// A compiled model.
///
/// ```
/// let model = bgm::Model::from_text("
/// model Decay
///   parameter k = 2
///   local x
///   output y
///   der(x) = -k*x
///   y = 3*x
///   init(x) = 1
/// end")?;
/// assert_eq!(model.name(), "Decay");
/// assert!(model.solved()?.contains("der(x) = -k*x"));
/// let run = model.simulate(&bgm::Run::new().until(1.0).tolerance(1e-9))?;
/// let last = run["y"].last().unwrap();
/// assert!((last - 3.0 * (-2f64).exp()).abs() < 1e-7);
/// # Ok::<(), bgm::Error>(())
/// ```
#[derive(Debug)]
pub struct Model {
    pub(super) input: Input,
    pub(super) options: Options,
    pub(super) files: CachedFiles,
    pub(super) sources: Sources,
    pub(super) flat: Flat,
    warnings: Vec<Message>,
}

/// A variable of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// `parameter`, `input`, `output`, `local`, ...
    pub kind: &'static str,
    pub unit: Option<String>,
    pub description: Option<String>,
}

impl Model {
    /// Compiles a text: its last model. It can include the standard library, but no files.
    pub fn from_text(text: &str) -> Result<Model, Error> {
        Loader::new().text(text)
    }

    /// The name of the type that was compiled.
    pub fn name(&self) -> &str {
        self.flat.model()
    }

    /// Warnings of the compilation.
    pub fn warnings(&self) -> &[Message] {
        &self.warnings
    }

    /// All variables of the flat model, including parameters, in the order of their declarations.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + '_ {
        self.flat.variable_ids().map(|id| {
            let variable = self.flat.variable(id);
            let remarks = &self.flat.declaration(id).remarks;
            Variable {
                name: self.flat.name(id),
                kind: match variable.output {
                    true => "output",
                    false => variable.kind.text(),
                },
                unit: remarks.unit.clone(),
                description: remarks.description.clone(),
            }
        })
    }

    /// Returns the settings that the model was loaded with.
    pub(super) fn request(&self) -> Request {
        self.options.request.clone()
    }
}
