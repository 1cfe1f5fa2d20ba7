//! Operators and functions of the language, with their spelling and precedence.

/// Binding strengths, from the weakest to the strongest. An operand that is weaker than its place
/// requires gets brackets.
pub mod precedence {
    pub const IF: u8 = 0;
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const RELATION: u8 = 4;
    pub const SUM: u8 = 5;
    pub const PRODUCT: u8 = 6;
    pub const SIGN: u8 = 7;
    pub const POWER: u8 = 8;
    pub const ATOM: u8 = 9;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Minus,
    Plus,
    Not,
}

impl UnaryOp {
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Minus => "-",
            UnaryOp::Plus => "+",
            UnaryOp::Not => "not ",
        }
    }

    pub fn precedence(self) -> u8 {
        match self {
            UnaryOp::Minus | UnaryOp::Plus => precedence::SIGN,
            UnaryOp::Not => precedence::NOT,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Or,
    And,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
}

impl BinaryOp {
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "<>",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Pow => "**",
        }
    }

    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => precedence::OR,
            BinaryOp::And => precedence::AND,
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual => precedence::RELATION,
            BinaryOp::Add | BinaryOp::Sub => precedence::SUM,
            BinaryOp::Mul | BinaryOp::Div => precedence::PRODUCT,
            BinaryOp::Pow => precedence::POWER,
        }
    }

    /// Whether its operands are numbers and its value is a number.
    pub fn is_arithmetic(self) -> bool {
        matches!(
            self,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow
        )
    }
}

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    pub least: usize,
    pub most: usize,
}

impl Arity {
    pub fn allows(self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }

    /// "1 argument", "2 arguments", "2 or more arguments".
    pub fn words(self) -> String {
        match (self.least, self.most) {
            (1, 1) => "1 argument".into(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, _) => format!("{least} or more arguments"),
        }
    }
}

macro_rules! functions {
    ($($name:ident $text:literal $least:literal $most:expr;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function { $($name),* }

        impl Function {
            pub const ALL: &'static [Function] = &[$(Function::$name),*];

            pub fn text(self) -> &'static str {
                match self { $(Function::$name => $text),* }
            }

            pub fn from_name(name: &str) -> Option<Function> {
                match name { $($text => Some(Function::$name),)* _ => None }
            }

            pub fn arity(self) -> Arity {
                match self { $(Function::$name => Arity { least: $least, most: $most }),* }
            }
        }
    };
}

functions! {
    Sin "sin" 1 1;
    Cos "cos" 1 1;
    Tan "tan" 1 1;
    Asin "asin" 1 1;
    Acos "acos" 1 1;
    Atan "atan" 1 1;
    Atan2 "atan2" 2 2;
    Sinh "sinh" 1 1;
    Cosh "cosh" 1 1;
    Tanh "tanh" 1 1;
    Exp "exp" 1 1;
    Ln "ln" 1 1;
    Log10 "log10" 1 1;
    Sqrt "sqrt" 1 1;
    Abs "abs" 1 1;
    Sign "sign" 1 1;
    Min "min" 2 usize::MAX;
    Max "max" 2 usize::MAX;
    Floor "floor" 1 1;
    Ceil "ceil" 1 1;
    Mod "mod" 2 2;
    Table "table" 3 3;
    Sample "sample" 2 2;
    Der "der" 1 1;
    Der2 "der2" 1 1;
    New "new" 1 1;
    Init "init" 1 1;
    Pre "pre" 1 1;
}

impl Function {
    /// `der`, `new`, `init`, `pre`: their argument is a variable, not a value.
    pub fn takes_variable(self) -> bool {
        matches!(
            self,
            Function::Der | Function::Der2 | Function::New | Function::Init | Function::Pre
        )
    }
}
