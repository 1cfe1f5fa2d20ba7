within ;
model Rectifier "Rectifier, flat, as bgm writes it"
  constant Real pi = 3.14159;
  parameter Real f = 50;
  parameter Real 'Ri.R' = 10 "resistance";
  parameter Real 'RL.R' = 50 "resistance";
  parameter Real 'C.C' = 0.001 "capacitance, or one over stiffness";
  output Real y;
  Real w;
  Real 'U0.e';
  Real 'U0.E0';
  Real 'Ri.e';
  Real 'Ri.f';
  Real 'RL.e';
  Real 'RL.f';
  Real 'C.e'(start = 0, fixed = true);
  Real 'C.f';
  Real 'Diode.e';
  Real 'Diode.f';
  Boolean 'Diode.OpenSwitch'(start = false, fixed = true) "true while the switch is open";
  Real 'B1.x';
  Real 'B1.y';
  Real 'B2.x';
  Real 'B2.y';
  Real 'B3.x';
  Real 'B3.y';
  Real 'B4.x';
  Real 'B4.y';
equation
  // U0
  'U0.E0' = 'U0.e';
  // Ri
  'Ri.R'*'Ri.f' = 'Ri.e';
  // RL
  'RL.R'*'RL.f' = 'RL.e';
  // C
  'C.C'*der('C.e') = 'C.f';
  // Diode
  0 = if pre('Diode.OpenSwitch') then 'Diode.f' else 'Diode.e';
  'Diode.OpenSwitch' = not ('Diode.e' > 0) and not ('Diode.f' > 0);
  // Rectifier
  w = 2*pi*f;
  'U0.E0' = sin(w*time);
  y = 'C.e';
  'U0.e' = 'B1.x';
  'B2.y' = 'Ri.e';
  'Ri.f' = 'B2.x';
  'B3.y' = 'Diode.e';
  'Diode.f' = 'B3.x';
  'B3.x' = 'B4.x';
  'B2.x' = 'B3.x';
  'B1.y' = 'B2.x';
  'B4.y' + 'B3.y' + 'B2.y' = 'B1.x';
  'RL.e' = 'C.e';
  'B4.y' = 'RL.e';
  'C.f' + 'RL.f' = 'B4.x';
  annotation(experiment(StartTime = 0, StopTime = 0.1, Tolerance = 1e-6, Interval = 0.0001));
end Rectifier;
