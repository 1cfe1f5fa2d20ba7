//! The codes. The first two digits tell the phase: 01 text, 02 files, 03 names, 04 connections,
//! 05 values, 06 structure, 07 solving, 08 evaluating, 09 simulating, 10 linear analysis. `docs/diagnostics.md` explains each with an example of the mistake and of the cure.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

macro_rules! codes {
    ($($name:ident $text:literal $title:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($name),* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// `E0301`
            pub fn text(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }

            /// What the code stands for, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title),* }
            }
        }
    };
}

codes! {
    UnknownCharacter "E0101" "a character that has no meaning";
    UnclosedComment "E0102" "a comment that is never closed";
    UnclosedText "E0103" "a unit or description that is not closed on its line";
    UnclosedBracket "E0104" "a bracket that is never closed";
    MissingEnd "E0105" "a missing `end`, `endfor` or `endwhen`";
    Syntax "E0106" "a statement that cannot be read";
    NumberRange "E0107" "a number that cannot be represented";
    NameTooLong "E0108" "a name that is too long";
    TooDeep "E0109" "something nested too deeply";
    UnknownFunction "E0110" "an unknown function";
    WrongArguments "E0111" "wrong arguments of a function";
    EndName "E0112" "a name after `end` that does not agree";

    UnreadableFile "E0201" "a file that cannot be read";
    UnknownInclude "E0202" "an include that is not found";
    NotUtf8 "E0203" "text that is not UTF-8";
    EmptyFile "E0204" "an empty file";
    NoModel "E0205" "a file without a `model`";
    UnknownModel "E0206" "a model that is not there";
    IncludeInModel "E0207" "an include inside a model";
    UnknownExperiment "E0208" "an experiment that is not there, or not chosen";
    Unwritable "E0209" "a file that cannot be written";
    NotRegular "E0210" "a pipe or a device where a file is read";
    TooMuchText "E0211" "too much text";
    OutsideFolders "E0212" "a file outside the folders that may be read";

    UnknownType "E0301" "an unknown type";
    UnknownVariable "E0302" "an unknown variable";
    UnknownParameter "E0303" "an unknown parameter";
    DuplicateName "E0304" "a name declared twice";
    DuplicateType "E0305" "a type defined twice";
    ContainsItself "E0306" "a model that contains itself";
    InheritanceCircle "E0307" "inheritance in a circle";
    InheritedTwice "E0308" "a name inherited and declared again";
    NotAVariable "E0309" "something that is not a variable where one is wanted";
    Misplaced "E0310" "an equation that may not stand here";
    UnwantedValue "E0311" "a value where none belongs";
    DefinedTwice "E0312" "a discrete variable, a start value or a setting given twice";

    UnknownCut "E0401" "an unknown cut, node or submodel in a connection";
    UnknownPath "E0402" "an unknown path";
    DifferentStructure "E0403" "cuts of different structure connected";
    PathForCut "E0404" "a path where a cut is wanted";
    ConnectedToItself "E0405" "a thing connected to itself";
    NotConnected "E0406" "a submodel that is not connected";
    NoMain "E0407" "no main cut or path to connect";
    TwoMains "E0408" "two main cuts or paths";
    JunctionRoles "E0409" "a wrong connection at a `junction1`";
    BundleCircle "E0410" "a bundle of cuts that contains itself";

    DependsOnVariable "E0501" "a parameter that depends on a variable";
    DependsOnItself "E0502" "a parameter that depends on itself";
    NoValue "E0503" "a parameter without a value";
    TypeClash "E0504" "real used as boolean, or boolean as real";
    IndexBounds "E0505" "an array index outside its bounds";
    BadSize "E0506" "a size or bound that is not a whole number from 0 on";
    TooLarge "E0507" "a model beyond the limit of instances";
    IndexUse "E0508" "an array without an index, or an index without an array";
    BadTable "E0509" "a table that cannot be interpolated";
    BadValue "E0510" "a value that is not a number";
    FixedParameter "E0511" "a parameter that an experiment cannot change";
    WrongSetting "E0512" "a wrong number in an experiment or a sweep";
    UnknownMethod "E0513" "an integrator that is not there";

    TooManyEquations "E0601" "more equations than unknowns";
    TooFewEquations "E0602" "fewer equations than unknowns";
    HigherIndex "E0603" "constraints that depend on each other";
    UnknownsCancel "E0604" "equations whose unknowns cancel";
    MovesFreely "E0605" "unknowns that can be moved together";
    StartsContradict "E0606" "start values that contradict each other";
    RestartOfNoState "E0607" "a restart of a variable that is no state";

    NoPowerPorts "E0608" "a picture of a model without power ports";
    StartUndetermined "E0609" "start equations that do not determine the start";

    Unsolvable "E0701" "an equation that cannot be solved for its unknown";
    BooleanLoop "E0702" "a boolean in a loop";
    ZeroCoefficient "E0703" "a coefficient that is zero where it has to be divided by";

    ZeroDivisor "E0801" "a division by zero";
    NotFinite "E0802" "a value that is infinite or not a number";
    SingularLoop "E0803" "a linear loop without a unique solution";
    NoSolution "E0804" "a nonlinear loop in which no solution was found";
    SolvedAsZero "E0805" "a parameter that was zero when the model was solved";

    CannotGoOn "E0901" "an integration that cannot go on";
    Restless "E0902" "a relation that changes without end";
    NoSteadyState "E0903" "a steady state that was not found";
    InputMissing "E0904" "an input that nothing gives a value";
    ImpossiblePosition "E0905" "a position of switches that is impossible";
    NoJump "E0906" "a jump that cannot be computed";
    RestartsClash "E0907" "two restarts of one state at one moment";

    NotASignal "E1001" "an input or output that a linear analysis cannot have";
    NoSlope "E1002" "a point at which the equations have no slope";
    NoStates "E1003" "poles of a model without states";
    NoSignals "E1004" "a frequency response without input or output";
    ManyStates "E1005" "all poles of a large model";

    ImplicitLocal "W0301" "a name taken as `local`";
    UnconnectedCut "W0401" "a cut that nothing is connected to";
    LonelyNode "W0402" "a node that joins nothing";
    NoGround "W0601" "a part without ground";
    UnusedStart "W0602" "a start value that cannot be given";
    TooFewStarts "W0603" "too few start values";
    ArtificialStiffness "W0605" "a switch that makes the model stiff";
    UnmetPreference "W0606" "a causality that was preferred and cannot be had";
    NoDynamics "W0901" "a model without dynamics";

    OpenEnds "W1001" "a linear analysis without inputs or outputs";
    TieAtPoint "W1002" "a relation that changes exactly at the point";
    MultiplePole "W1003" "a multiple pole";
}

impl Code {
    pub fn severity(self) -> Severity {
        match self.text().as_bytes()[0] {
            b'W' => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether it says that a name is unknown. That is unreliable if a part of the text could not be read.
    pub fn is_about_missing(self) -> bool {
        matches!(
            self,
            Code::NoModel
                | Code::UnknownModel
                | Code::UnknownType
                | Code::UnknownVariable
                | Code::UnknownParameter
                | Code::UnknownCut
                | Code::UnknownPath
                | Code::NoMain
                | Code::ImplicitLocal
        )
    }

    /// Whether a part of the text could not be read because of it.
    pub fn hides_text(self) -> bool {
        matches!(
            self,
            Code::UnknownCharacter
                | Code::UnclosedComment
                | Code::UnclosedBracket
                | Code::MissingEnd
                | Code::Syntax
                | Code::TooDeep
                | Code::UnreadableFile
                | Code::NotRegular
                | Code::TooMuchText
                | Code::OutsideFolders
                | Code::UnknownInclude
                | Code::NotUtf8
                | Code::IncludeInModel
        )
    }

    pub fn from_text(text: &str) -> Option<Code> {
        Code::ALL
            .iter()
            .copied()
            .find(|code| code.text().eq_ignore_ascii_case(text))
    }
}
