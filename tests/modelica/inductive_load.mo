within ;
model InductiveLoad "InductiveLoad, flat, as bgm writes it"
  // where the switch `Diode` comes to the position that changes the index, its equation is written differentiated, with a `reinit` (as in `bgm solve`)
  constant Real pi = 3.14159;
  parameter Real f = 50;
  parameter Real 'Ri.R' = 10 "resistance";
  parameter Real 'L.I' = 0.05 "inertance";
  output Real y;
  Real w;
  Real 'U0.e';
  Real 'U0.E0';
  Real 'Ri.e';
  Real 'Ri.f';
  Real 'L.e';
  Real 'L.f';
  Real 'Diode.e';
  Real 'Diode.f'(start = 0, fixed = true);
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
  // L
  'L.I'*der('L.f') = 'L.e';
  // Diode
  0 = if pre('Diode.OpenSwitch') then der('Diode.f') else 'Diode.e';
  when pre('Diode.OpenSwitch') then
    reinit('Diode.f', 0);
  end when;
  'Diode.OpenSwitch' = not ('Diode.e' > 0) and not ('Diode.f' > 0);
  // InductiveLoad
  w = 2*pi*f;
  'U0.E0' = sin(w*time);
  y = 'Diode.f';
  'U0.e' = 'B1.x';
  'B2.y' = 'Ri.e';
  'Ri.f' = 'B2.x';
  'B3.y' = 'Diode.e';
  'Diode.f' = 'B3.x';
  'B3.x' = 'B4.x';
  'B2.x' = 'B3.x';
  'B1.y' = 'B2.x';
  'B4.y' + 'B3.y' + 'B2.y' = 'B1.x';
  'B4.y' = 'L.e';
  'Diode.f' = 'L.f'; // what several equations add up to, in place of one of them
  annotation(experiment(StartTime = 0, StopTime = 0.1, Tolerance = 1e-6, Interval = 0.0001));
end InductiveLoad;
