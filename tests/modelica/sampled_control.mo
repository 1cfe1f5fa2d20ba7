within ;
model SampledControl "SampledControl, flat, as bgm writes it"
  parameter Real a(unit = "1/s") = 0.5;
  parameter Real k(unit = "1/s") = 4 "gain";
  parameter Real r = 1 "wanted";
  parameter Real T(unit = "s") = 0.1 "between samples";
  output Real x(start = 0, fixed = true) "contents";
  discrete output Real u(start = 0, fixed = true) "inflow";
equation
  der(x) = u - a*x;
  when sample(0, T) then
    u = k*(r - x);
  end when;
  annotation(experiment(StartTime = 0, StopTime = 3, Tolerance = 1e-8, Interval = 0.005));
end SampledControl;
