within ;
model Buck "Buck, flat, as bgm writes it"
  // one of the switches `S`, `D1` changes the index of the model, or leaves something open; the class is valid, but a tool that analyses it once for all positions cannot simulate it
  parameter Real E(unit = "V") = 10;
  parameter Real duty = 0.4;
  parameter Real T(unit = "s") = 0.25;
  parameter Real R(unit = "Ohm") = 0.5;
  parameter Real L(unit = "H") = 1;
  parameter Real C(unit = "F") = 1;
  parameter Real 'U0.E'(unit = "V") = E "voltage";
  parameter Real 'L1.L'(unit = "H") = L "inductance";
  parameter Real 'C1.C'(unit = "F") = C "capacitance";
  parameter Real 'R1.R'(unit = "Ohm") = R "resistance";
  output Real y(unit = "V") "voltage of the load";
  output Real i(unit = "A") "current of the coil";
  output Real area(start = 0, fixed = true) "integral of y, in Vs";
  Real 'U0.Va'(unit = "V");
  Real 'U0.i'(unit = "A");
  Real 'U0.Vb'(unit = "V");
  Real 'U0.u'(unit = "V") "voltage from A to B";
  Real 'U0.E0'(unit = "V") "source voltage";
  Real 'S.Va'(unit = "V");
  Real 'S.i'(unit = "A");
  Real 'S.Vb'(unit = "V");
  Real 'S.u'(unit = "V") "voltage from A to B";
  Boolean 'S.OpenSwitch' "true while the switch is open";
  Real 'D1.Va'(unit = "V");
  Real 'D1.i'(unit = "A");
  Real 'D1.Vb'(unit = "V");
  Real 'D1.u'(unit = "V") "voltage from A to B";
  Boolean 'D1.OpenSwitch'(start = false, fixed = true) "true while the switch is open";
  Real 'L1.Va'(unit = "V");
  Real 'L1.i'(unit = "A", start = 0, fixed = true);
  Real 'L1.Vb'(unit = "V");
  Real 'L1.u'(unit = "V") "voltage from A to B";
  Real 'C1.Va'(unit = "V");
  Real 'C1.i'(unit = "A");
  Real 'C1.Vb'(unit = "V");
  Real 'C1.u'(unit = "V", start = 0, fixed = true) "voltage from A to B";
  Real 'R1.Va'(unit = "V");
  Real 'R1.i'(unit = "A");
  Real 'R1.Vb'(unit = "V");
  Real 'R1.u'(unit = "V") "voltage from A to B";
  Real 'Ground.V'(unit = "V");
equation
  // U0
  'U0.u' = 'U0.Va' - 'U0.Vb';
  'U0.Vb' - 'U0.Va' = 'U0.E0';
  'U0.E0' = 'U0.E';
  // S
  'S.u' = 'S.Va' - 'S.Vb';
  0 = if 'S.OpenSwitch' then 'S.i' else 'S.u';
  // D1
  'D1.u' = 'D1.Va' - 'D1.Vb';
  0 = if pre('D1.OpenSwitch') then 'D1.i' else 'D1.u';
  'D1.OpenSwitch' = not ('D1.u' > 0) and not ('D1.i' > 0);
  // L1
  'L1.u' = 'L1.Va' - 'L1.Vb';
  'L1.L'*der('L1.i') = 'L1.u';
  // C1
  'C1.u' = 'C1.Va' - 'C1.Vb';
  'C1.C'*der('C1.u') = 'C1.i';
  // R1
  'R1.u' = 'R1.Va' - 'R1.Vb';
  'R1.R'*'R1.i' = 'R1.u';
  // Ground
  'Ground.V' = 0;
  // Buck
  'S.OpenSwitch' = mod(time, T) >= duty*T;
  y = 'C1.u';
  i = 'L1.i';
  der(area) = y;
  'U0.Vb' = 'S.Va';
  'S.i' = 'U0.i';
  'R1.Va' = 'L1.Vb';
  'C1.Va' = 'R1.Va';
  'R1.i' + 'C1.i' = 'L1.i';
  'R1.Vb' = 'D1.Va';
  'C1.Vb' = 'R1.Vb';
  'U0.Va' = 'C1.Vb';
  'Ground.V' = 'U0.Va';
  'L1.Va' = 'D1.Vb';
  'S.Vb' = 'L1.Va';
  'L1.i' = 'D1.i' + 'S.i';
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-8, Interval = 0.01));
end Buck;
