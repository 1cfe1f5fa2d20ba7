//! Types that generated models bring along: resistors whose law is not a straight line. Each of
//! them is strictly monotone, so that a network of them has one solution.

/// Name and text.
pub const OWN: &[(&str, &str)] = &[
    // Bond graphs.
    (
        "Rquad",
        "model type Rquad\n  cut A(e/f)\n  parameter R = 1\n  e = R*f*abs(f) + 0.5*f\nend\n",
    ),
    (
        "Rcube",
        "model type Rcube\n  cut A(e/f)\n  parameter R = 1\n  f + 0.2*f**3 = e/R\nend\n",
    ),
    (
        "Rroot",
        "model type Rroot\n  cut A(e/f)\n  parameter R = 1\n  R*(f + 1)**3 = e + R\nend\n",
    ),
    (
        "Rexp",
        "model type Rexp\n  cut A(e/f)\n  parameter R = 1\n  R*f = 0.5*(exp(e) - 1) + e\nend\n",
    ),
    (
        "Rtable",
        "model type Rtable\n  cut A(e/f)\n  parameter R = 1\n  \
         R*f = 0.5*e + table(e, [-2, -1, 1, 3], [-3, -1, 1, 2])\nend\n",
    ),
    (
        "Rif",
        "model type Rif\n  cut A(e/f)\n  parameter R = 1\n  e = if f > 0 then R*f else 2*R*f\nend\n",
    ),
    (
        "Ratan",
        "model type Ratan\n  cut A(e/f)\n  parameter R = 1\n  local g\n  g = atan(e) + 0.3*e\n  R*f = g\nend\n",
    ),
    (
        "Rsinh",
        "model type Rsinh\n  cut A(e/f)\n  parameter R = 1\n  0 = R*f - sinh(e/2)\nend\n",
    ),
    (
        "Cvar",
        "model type Cvar\n  cut A(e/f)\n  parameter C = 1\n  (C + e**2)*der(e) = f\nend\n",
    ),
    // Circuits.
    (
        "Quadratic",
        "model class (TwoTerminal) Quadratic\n  parameter R = 1\n  u = R*i*abs(i) + 0.5*i\nend\n",
    ),
    (
        "Cubic",
        "model class (TwoTerminal) Cubic\n  parameter R = 1\n  i + 0.2*i**3 = u/R\nend\n",
    ),
    (
        "Exponential",
        "model class (TwoTerminal) Exponential\n  parameter R = 1\n  R*i = 0.5*(exp(u) - 1) + u\nend\n",
    ),
    (
        "Table",
        "model class (TwoTerminal) Table\n  parameter R = 1\n  \
         R*i = 0.5*u + table(u, [-2, -1, 1, 3], [-3, -1, 1, 2])\nend\n",
    ),
    (
        "TwoSlopes",
        "model class (TwoTerminal) TwoSlopes\n  parameter R = 1\n  \
         u = if i > 0 then R*i else 2*R*i\nend\n",
    ),
    (
        "Varactor",
        "model class (TwoTerminal) Varactor\n  parameter C = 1\n  (C + u**2)*der(u) = i\nend\n",
    ),
    (
        "Cell",
        "model type Cell\n  submodel (Resistor) R(R = 2)\n  submodel (Capacitor) C(C = 0.5)\n  \
         submodel (Resistor) S(R = 3)\n  cut A(a/i), B(b/-j)\n  main path P <A - B>\n  node n\n  \
         connect R from A to n\n  connect C from n to B\n  connect S from n to B\nend\n",
    ),
];
