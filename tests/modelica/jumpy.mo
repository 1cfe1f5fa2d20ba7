within ;
model Jumpy "Jumpy, flat, as bgm writes it"
  Real p(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Real x;
  Real y(start = 0, fixed = true);
  discrete Real mode(start = 0, fixed = true);
  Real z(start = 0, fixed = true);
  Real level;
  discrete Real c(start = 0, fixed = true);
  discrete Real d(start = 0, fixed = true);
  discrete Real count(start = 0, fixed = true);
  discrete Real last(start = 0, fixed = true);
  Boolean up(start = false, fixed = true);
  discrete Real turns(start = 0, fixed = true);
  Boolean now;
  Boolean 'when 3';
  Boolean 'when 3, elsewhen 1';
  Boolean 'when 4';
initial equation
  pre('when 3') = p < -0.5;
  pre('when 3, elsewhen 1') = v > -0.7;
  pre('when 4') = time > 3.05;
equation
  der(p) = v;
  der(v) = -p;
  y = x;
  der(y) = 1 - 0.5*y;
  when {initial(), p > 0.8, not (p > 0.8), p < -0.2, not (p < -0.2)} then
    mode = if p > 0.8 then 1 elseif p < -0.2 then 0 else pre(mode);
  end when;
  level = if abs(mode - 1) <= 0 then 5.0 elseif abs(mode - 0) > 0 then 6.0 else 7.0;
  when p < 0 then
    c = pre(c) + 1;
    d = pre(d);
  elsewhen time > 2 then
    c = if p < 0 then pre(c) else 10;
    d = if p < 0 then pre(d) else pre(c);
  elsewhen time > 5.05 then
    c = pre(c);
    d = if p < 0 or time > 2 then pre(d) else pre(d) - 1;
  end when;
  der(z) = 1;
  when sample(0.27, 0.5) then
    count = pre(count) + 1;
    last = pre(count) + x;
  end when;
  up = v > 0.1 or pre(up) and v > -0.1;
  when up <> pre(up) then
    turns = pre(turns) + 1;
  end when;
  now = sample(0.27, 0.5) and up;
  'when 3' = p < -0.5;
  'when 3, elsewhen 1' = v > -0.7;
  'when 4' = time > 3.05;
  when v > 0.6 then
    reinit(y, pre(x)/2);
  elsewhen p < 0 then
    reinit(y, 0.5);
  end when;
  when {'when 3', 'when 3, elsewhen 1', 'when 4'} then
    reinit(z, if edge('when 4') then 5*v elseif edge('when 3, elsewhen 1') and not ('when 3') then z + 2 elseif edge('when 3') then 0 else z);
  end when;
  annotation(experiment(StartTime = 0, StopTime = 8, Tolerance = 1e-6, Interval = 0.1));
end Jumpy;
