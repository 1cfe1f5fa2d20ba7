within ;
model Awkward "Awkward, flat, as bgm writes it"
  function interpolate "Linear interpolation that holds its end values"
    input Real x;
    input Real xs[:] "ascending";
    input Real ys[:];
    output Real y;
  algorithm
    y := ys[1];
    for k in 1:size(xs, 1) - 1 loop
      if x >= xs[k + 1] then
        y := ys[k + 1];
      elseif x >= xs[k] then
        y := ys[k] + (ys[k + 1] - ys[k])*(x - xs[k])/(xs[k + 1] - xs[k]);
      end if;
    end for;
  end interpolate;
  parameter Real 'time'(unit = "s") = 3 "a \\ word of Modelica";
  final parameter Real n = 2;
  parameter Real big = 100000.0*100000.0;
  parameter Boolean on = true;
  parameter Real tiny = 1e-300;
  parameter Real 'Boolean' = -2;
  constant Real half = 1/2;
  final parameter Real twice = 2*'time';
  parameter Real 'gain[1]' = 1;
  parameter Real 'gain[2]' = 2.5;
  Real '{U+03C6}'(unit = "rad", start = 1, fixed = true) "angle // no comment";
  Real 'der({U+03C6})'(unit = "rad/s", start = 0, fixed = true);
  Real 'Gr{U+00F6}{U+00DF}e' "it's /* none */ either, in Euro/day";
  Real 'Real';
  Real 'Awkward';
  Real 'interpolate';
  Real a;
  Real b;
  Boolean flip;
  Boolean hit;
  Boolean ok;
  output Real w "in As";
  output Real 'reinit';
  Real u(unit = "V") = 2 + half*sin(time); // an input: this is what the experiment gives
  Real 'x[1]'(unit = "m", start = 0, fixed = true);
  Real 'x[2]'(unit = "m", start = 0, fixed = true);
equation
  der('der({U+03C6})') = -'{U+03C6}' - 0.1*'der({U+03C6})';
  'Gr{U+00F6}{U+00DF}e' = (if '{U+03C6}' > 0.5 then 1.0 elseif '{U+03C6}' > 0 then 2.0 elseif '{U+03C6}' < -0.5 then 3.0 else 4.0)*100000.0*(if time > 1 then 100000.0 else 1.0);
  der('x[1]') = 'gain[1]'*u - 'x[1]';
  der('x[2]') = 'gain[2]'*u - 'x[2]';
  'Real' = -'x[1]'*2 - (-'x[2]'^2) + (-3)^2 - 2^(-'x[1]')/(-half);
  'Awkward' = max('x[1]', max('x[2]', max(0.1, '{U+03C6}'))) - min(1.0, min(2.0, 3.0))*('x[1]' - ('x[2]' - 1) - (-1));
  a = if 'x[1]' < 0.0 then 1.0 elseif 'x[1]' < 0.5 then 1.0 + (-1.0 - 1.0)*('x[1]' - 0.0)/(0.5 - 0.0) elseif 'x[1]' < 1.0 then -1.0 + (4.0 - (-1.0))*('x[1]' - 0.5)/(1.0 - 0.5) else 4.0;
  'interpolate' = interpolate(sin('x[1]')*cos('x[2]') + (if 'x[1]' - 1 > 0 then 1.0 elseif 'x[1]' - 1 < 0 then -1.0 else 0.0)*(if time < 0.0 then 0.0 elseif time < 1.0 then 0.0 + (2.0 - 0.0)*(time - 0.0)/(1.0 - 0.0) else 2.0), {0, 1}, {3, 'time'});
  b = (if '{U+03C6}' > 0 then 1.0 elseif '{U+03C6}' < 0 then -1.0 else 0.0) + floor(3*'{U+03C6}') + ceil('{U+03C6}') + mod(time, 0.3) + atan2('{U+03C6}', 2) + log(2 + '{U+03C6}') + log10(3 + '{U+03C6}') + abs('{U+03C6}');
  flip = not (('{U+03C6}' > 0) == hit);
  hit = time > 4.05;
  ok = not (hit <> flip);
  w = (if ok then 1.0 else 0.0) + (if on then big else 0) + 3000000000.0*tiny;
  'reinit' = if (hit or ok) and not flip then 'Boolean' else 'time'^'Boolean';
  'der({U+03C6})' = der('{U+03C6}');
  annotation(experiment(StartTime = 0, StopTime = 6, Tolerance = 1e-6, Interval = 0.1));
end Awkward;
