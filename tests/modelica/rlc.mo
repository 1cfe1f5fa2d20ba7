within ;
model RLC "RLC, flat, as bgm writes it"
  parameter Real 'R1.R' = 100 "resistance";
  parameter Real 'R2.R' = 20 "resistance";
  parameter Real 'L1.I' = 0.0015 "inertance";
  parameter Real 'C1.C' = 1e-7 "capacitance, or one over stiffness";
  Real u = 10; // an input: this is what the experiment gives
  output Real y1;
  output Real y2;
  Real 'U0.e';
  Real 'U0.E0';
  Real 'R1.e';
  Real 'R1.f';
  Real 'R2.e';
  Real 'R2.f';
  Real 'L1.e';
  Real 'L1.f'(start = 0, fixed = true);
  Real 'C1.e'(start = 0, fixed = true);
  Real 'C1.f';
  Real 'B1.x';
  Real 'B1.y';
  Real 'B2.x';
  Real 'B2.y';
  Real 'B3.x';
  Real 'B3.y';
equation
  // U0
  'U0.E0' = 'U0.e';
  // R1
  'R1.R'*'R1.f' = 'R1.e';
  // R2
  'R2.R'*'R2.f' = 'R2.e';
  // L1
  'L1.I'*der('L1.f') = 'L1.e';
  // C1
  'C1.C'*der('C1.e') = 'C1.f';
  // RLC
  'U0.E0' = u;
  y1 = 'C1.e';
  y2 = 'R2.f';
  'L1.e' = 'B1.x';
  'U0.e' = 'L1.e';
  'C1.e' = 'B2.y';
  'R2.e' = 'C1.e';
  'C1.f' + 'R2.f' = 'B2.x';
  'B2.x' = 'B3.x';
  'B1.y' = 'B2.x';
  'B3.y' + 'B2.y' = 'B1.x';
  'R1.e' = 'B3.y';
  'R1.f' = 'B3.x';
  annotation(experiment(StartTime = 0, StopTime = 2e-5, Tolerance = 1e-6, Interval = 2e-7));
end RLC;
