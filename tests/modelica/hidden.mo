within ;
model Hidden "Hidden, flat, as bgm writes it"
  parameter Real 'R1.R'(unit = "Ohm") = 1000 "resistance";
  parameter Real 'R2.R'(unit = "Ohm") = 2000 "resistance";
  parameter Real 'R3.R'(unit = "Ohm") = 3000 "resistance";
  parameter Real 'R4.R'(unit = "Ohm") = 50 "resistance";
  parameter Real 'C12.C'(unit = "F") = 1e-6 "capacitance";
  parameter Real 'C23.C'(unit = "F") = 2e-6 "capacitance";
  parameter Real 'C31.C'(unit = "F") = 4e-6 "capacitance";
  parameter Real 'C4.C'(unit = "F") = 1e-5 "capacitance";
  parameter Real 'U4.E'(unit = "V") = 3 "voltage";
  output Real y(unit = "V");
  Real 'U1.Va'(unit = "V");
  Real 'U1.i'(unit = "A");
  Real 'U1.Vb'(unit = "V");
  Real 'U1.u'(unit = "V") "voltage from A to B";
  Real 'U1.E0'(unit = "V") "source voltage";
  Real 'U2.Va'(unit = "V");
  Real 'U2.i'(unit = "A");
  Real 'U2.Vb'(unit = "V");
  Real 'U2.u'(unit = "V") "voltage from A to B";
  Real 'U2.E0'(unit = "V") "source voltage";
  Real 'R1.Va'(unit = "V");
  Real 'R1.i'(unit = "A");
  Real 'R1.Vb'(unit = "V");
  Real 'R1.u'(unit = "V") "voltage from A to B";
  Real 'R2.Va'(unit = "V");
  Real 'R2.i'(unit = "A");
  Real 'R2.Vb'(unit = "V");
  Real 'R2.u'(unit = "V") "voltage from A to B";
  Real 'R3.Va'(unit = "V");
  Real 'R3.i'(unit = "A");
  Real 'R3.Vb'(unit = "V");
  Real 'R3.u'(unit = "V") "voltage from A to B";
  Real 'R4.Va'(unit = "V");
  Real 'R4.i'(unit = "A");
  Real 'R4.Vb'(unit = "V");
  Real 'R4.u'(unit = "V") "voltage from A to B";
  Real 'C12.Va'(unit = "V");
  Real 'C12.i'(unit = "A");
  Real 'C12.Vb'(unit = "V");
  Real 'C12.u'(unit = "V", start = 2, fixed = true) "voltage from A to B";
  Real 'C23.Va'(unit = "V");
  Real 'C23.i'(unit = "A");
  Real 'C23.Vb'(unit = "V");
  Real 'C23.u'(unit = "V", start = 0, fixed = true) "voltage from A to B";
  Real 'C31.Va'(unit = "V");
  Real 'C31.i'(unit = "A");
  Real 'C31.Vb'(unit = "V");
  Real 'C31.u'(unit = "V", start = -2) "voltage from A to B";
  Real 'C4.Va'(unit = "V");
  Real 'C4.i'(unit = "A");
  Real 'C4.Vb'(unit = "V");
  Real 'C4.u'(unit = "V", start = 0, fixed = true) "voltage from A to B";
  Real 'U4.Va'(unit = "V");
  Real 'U4.i'(unit = "A");
  Real 'U4.Vb'(unit = "V");
  Real 'U4.u'(unit = "V") "voltage from A to B";
  Real 'U4.E0'(unit = "V") "source voltage";
  Real 'Ground.V'(unit = "V");
equation
  // U1
  'U1.u' = 'U1.Va' - 'U1.Vb';
  'U1.Vb' - 'U1.Va' = 'U1.E0';
  // U2
  'U2.u' = 'U2.Va' - 'U2.Vb';
  'U2.Vb' - 'U2.Va' = 'U2.E0';
  // R1
  'R1.u' = 'R1.Va' - 'R1.Vb';
  'R1.R'*'R1.i' = 'R1.u';
  // R2
  'R2.u' = 'R2.Va' - 'R2.Vb';
  'R2.R'*'R2.i' = 'R2.u';
  // R3
  'R3.u' = 'R3.Va' - 'R3.Vb';
  'R3.R'*'R3.i' = 'R3.u';
  // R4
  'R4.u' = 'R4.Va' - 'R4.Vb';
  'R4.R'*'R4.i' = 'R4.u';
  // C12
  'C12.u' = 'C12.Va' - 'C12.Vb';
  'C12.C'*der('C12.u') = 'C12.i';
  // C23
  'C23.u' = 'C23.Va' - 'C23.Vb';
  'C23.C'*der('C23.u') = 'C23.i';
  // Hidden
  'C12.u' + 'C23.u' + 'C31.u' = 0; // what several equations add up to, in place of one of them
  // C31
  'C31.C'*der('C31.u') = 'C31.i';
  // C4
  'C4.u' = 'C4.Va' - 'C4.Vb';
  'C4.C'*der('C4.u') = 'C4.i';
  // U4
  'U4.u' = 'U4.Va' - 'U4.Vb';
  'U4.Vb' - 'U4.Va' = 'U4.E0';
  'U4.E0' = 'U4.E';
  // Ground
  'Ground.V' = 0;
  // Hidden
  'U1.E0' = sin(1000*time);
  'U2.E0' = 2;
  y = 'R3.u';
  'U1.Vb' = 'R1.Va';
  'R1.i' = 'U1.i';
  'U2.Vb' = 'R2.Va';
  'R2.i' = 'U2.i';
  'U2.Va' = 'R3.Vb';
  'Ground.V' = 'U2.Va';
  'U1.Va' = 'Ground.V';
  'C12.Vb' = 'C23.Va';
  'R2.Vb' = 'C12.Vb';
  'C23.i' = 'C12.i' + 'R2.i';
  'C23.Vb' = 'C31.Va';
  'R3.Va' = 'C23.Vb';
  'C31.i' + 'R3.i' = 'C23.i';
  'C12.Va' = 'C31.Vb';
  'R1.Vb' = 'C12.Va';
  'C12.i' = 'C31.i' + 'R1.i';
  'U4.Vb' = 'R4.Va';
  'R4.i' = 'U4.i';
  'R4.Vb' = 'C4.Va';
  'C4.Va' = 0; // in place of a ground
  'C4.Vb' = 'U4.Va';
  'U4.i' = 'C4.i';
  annotation(experiment(StartTime = 0, StopTime = 0.01, Tolerance = 1e-6, Interval = 0.0001));
end Hidden;
