//! Types that generated models bring along: resistors and storages whose law is not a straight line
//! (each of them strictly monotone, so that a network of them has one solution), and mechanics.

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
    // Storages by what they store: effort and flow come of a charge or a momentum.
    (
        "Cq",
        "model type Cq\n  cut A(e/f)\n  parameter C = 1\n  local q\n  der(q) = f\n  \
         q = C*e + 0.2*e**3\nend\n",
    ),
    (
        "Ctanh",
        "model type Ctanh\n  cut A(e/f)\n  parameter C = 1\n  local q\n  der(q) = f\n  \
         C*e + tanh(e) = q\nend\n",
    ),
    (
        "Ip",
        "model type Ip\n  cut A(e/f)\n  parameter I = 1\n  local p\n  der(p) = e\n  \
         p = I*f + sinh(f/3)\nend\n",
    ),
    (
        "ChargeCapacitor",
        "model class (TwoTerminal) ChargeCapacitor\n  parameter C = 1\n  local q\n  \
         der(q) = i\n  q = C*u + 0.2*u**3\nend\n",
    ),
    (
        "TableCapacitor",
        "model class (TwoTerminal) TableCapacitor\n  parameter C = 1\n  local q\n  \
         der(q) = i\n  q = C*u + table(u, [-2, -1, 1, 3], [-1, -0.3, 0.6, 2])\nend\n",
    ),
    (
        "FluxInductor",
        "model class (TwoTerminal) FluxInductor\n  parameter L = 1\n  local psi\n  \
         der(psi) = u\n  psi = L*i + atan(i)\nend\n",
    ),
    // Shafts, by velocity.
    (
        "Inertia",
        "model type Inertia\n  cut A(w/T)\n  parameter J = 1\n  J*der(w) = T\nend\n",
    ),
    (
        "BentInertia",
        "model type BentInertia\n  cut A(w/T)\n  parameter J = 1\n  local p\n  \
         der(p) = T\n  p = J*w + 0.1*w**3\nend\n",
    ),
    (
        "Spring",
        "model type Spring\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter c = 1\n  der(T) = c*(wa - wb)\nend\n",
    ),
    (
        "BentSpring",
        "model type BentSpring\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter c = 1\n  local a\n  der(a) = wa - wb\n  T = c*a + 0.3*a**3\nend\n",
    ),
    (
        "Damper",
        "model type Damper\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter d = 1\n  T = d*(wa - wb)\nend\n",
    ),
    (
        "BentDamper",
        "model type BentDamper\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter d = 1\n  T = d*(wa - wb) + 0.2*(wa - wb)**3\nend\n",
    ),
    // By angle.
    (
        "AngleInertia",
        "model type AngleInertia\n  cut A(a/T)\n  parameter J = 1\n  local w\n  \
         der(a) = w\n  J*der(w) = T\nend\n",
    ),
    (
        "SecondInertia",
        "model type SecondInertia\n  cut A(a/T)\n  parameter J = 1\n  J*der2(a) = T\nend\n",
    ),
    (
        "AngleSpring",
        "model type AngleSpring\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter c = 1\n  T = c*(wa - wb)\nend\n",
    ),
    (
        "BentAngleSpring",
        "model type BentAngleSpring\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter c = 1\n  T = c*(wa - wb) + sinh((wa - wb)/4)\nend\n",
    ),
    (
        "AngleDamper",
        "model type AngleDamper\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter d = 1\n  T = d*(der(wa) - der(wb))\nend\n",
    ),
    (
        "BentAngleDamper",
        "model type BentAngleDamper\n  cut A(wa/T), B(wb/-T)\n  main path P <A - B>\n  \
         parameter d = 1\n  local w\n  w = der(wa) - der(wb)\n  T = d*w + 0.2*w**3\n\
         end\n",
    ),
    (
        "Cam",
        "model type Cam\n  cut A(a1/T1), B(a2/-T2)\n  main path P <A - B>\n  \
         a2 = a1 + 0.3*sin(a1)\n  T1 = T2*(1 + 0.3*cos(a1))\nend\n",
    ),
    // Either way.
    (
        "Gear",
        "model type Gear\n  cut A(w1/T1), B(w2/-T2)\n  main path P <A - B>\n  \
         parameter n = 1\n  w1 = n*w2\n  T2 = n*T1\nend\n",
    ),
    (
        "VariableGear",
        "model type VariableGear\n  cut A(w1/T1), B(w2/-T2)\n  main path P <A - B>\n  \
         terminal n\n  w1 = n*w2\n  T2 = n*T1\nend\n",
    ),
    (
        "Differential",
        "model type Differential\n  cut A(wa/Ta), B(wb/Tb), C(wc/Tc)\n  \
         parameter p = 0.5\n  wc = p*wa + (1 - p)*wb\n  Ta = -p*Tc\n  \
         Tb = -(1 - p)*Tc\nend\n",
    ),
    (
        "Torque",
        "model type Torque\n  cut A(./-T)\n  terminal T0\n  T = T0\nend\n",
    ),
    (
        "Motion",
        "model type Motion\n  cut A(w/.)\n  terminal W0\n  w = W0\nend\n",
    ),
    ("Fixed", "model type Fixed\n  cut A(w/.)\n  w = 0\nend\n"),
    // Point masses in a plane.
    (
        "Mass",
        "model type Mass\n  cut A(x, y/fx, fy)\n  parameter m = 1\n  local u, v\n  \
         der(x) = u\n  der(y) = v\n  m*der(u) = fx\n  m*der(v) = fy - 9.81*m\nend\n",
    ),
    (
        "SecondMass",
        "model type SecondMass\n  cut A(x, y/fx, fy)\n  parameter m = 1\n  \
         m*der2(x) = fx\n  m*der2(y) = fy - 9.81*m\nend\n",
    ),
    (
        "Rod",
        "model type Rod\n  cut A(x1, y1/fx, fy), B(x2, y2/-fx, -fy)\n  \
         main path P <A - B>\n  parameter L = 6\n  local s\n  \
         (x1 - x2)**2 + (y1 - y2)**2 = L**2\n  fx = s*(x1 - x2)\n  fy = s*(y1 - y2)\n\
         end\n",
    ),
    (
        "RootRod",
        "model type RootRod\n  cut A(x1, y1/fx, fy), B(x2, y2/-fx, -fy)\n  \
         main path P <A - B>\n  parameter L = 6\n  local s\n  \
         sqrt((x1 - x2)**2 + (y1 - y2)**2) = L\n  fx = s*(x1 - x2)/L\n  \
         fy = s*(y1 - y2)/L\nend\n",
    ),
    (
        "PlaneSpring",
        "model type PlaneSpring\n  cut A(x1, y1/fx, fy), B(x2, y2/-fx, -fy)\n  \
         main path P <A - B>\n  parameter c = 1\n  fx = c*(x1 - x2)\n  \
         fy = c*(y1 - y2)\nend\n",
    ),
    (
        "PlaneDamper",
        "model type PlaneDamper\n  cut A(x1, y1/fx, fy), B(x2, y2/-fx, -fy)\n  \
         main path P <A - B>\n  parameter c = 1\n  fx = c*(der(x1) - der(x2))\n  \
         fy = c*(der(y1) - der(y2))\nend\n",
    ),
    (
        "Pin",
        "model type Pin\n  cut A(x, y/., .)\n  x = 0\n  y = 0\nend\n",
    ),
    (
        "MovedPin",
        "model type MovedPin\n  cut A(x, y/., .)\n  terminal X0\n  x = X0\n  y = 0\nend\n",
    ),
    (
        "Slider",
        "model type Slider\n  cut A(x, y/fx, fy)\n  y = 0\n  fx = 0\nend\n",
    ),
    (
        "Force",
        "model type Force\n  cut A(x, y/fx, fy)\n  terminal F0\n  fx = -F0\n  fy = 0\nend\n",
    ),
];
