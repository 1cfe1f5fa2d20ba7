//! `bgm explain CODE`: the page of the manual about a diagnostic.

use std::process::ExitCode;

use clap::Args;

use super::{Console, Fault};
use crate::base::diagnostics::explain::explain;
use crate::base::diagnostics::{Code, nearest};

#[derive(Debug, Args)]
pub struct Arguments {
    /// The code, as in `E0301`; without one all are listed
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub fn run(arguments: &Arguments, console: &mut Console) -> Result<ExitCode, Fault> {
    let text = match &arguments.code {
        None => Code::ALL
            .iter()
            .map(|code| format!("{}  {}\n", code.text(), code.title()))
            .collect(),
        Some(wanted) => {
            let Some(code) = Code::from_text(wanted) else {
                let known = Code::ALL.iter().map(|code| code.text());
                let hint = nearest(&wanted.to_uppercase(), known)
                    .map(|code| format!("; did you mean {code}?"))
                    .unwrap_or_default();
                let message =
                    format!("there is no diagnostic `{wanted}`{hint} (`bgm explain` lists all)");
                return Err(message.into());
            };
            explain(code)
        }
    };
    console.result(|out| out.write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}
