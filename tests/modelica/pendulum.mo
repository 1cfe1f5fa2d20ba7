within ;
model Pendulum "Pendulum, flat, as bgm writes it"
  parameter Real m(unit = "kg") = 1 "mass of the bob";
  parameter Real L(unit = "m") = 1 "length of the rod";
  constant Real g(unit = "m/s2") = 9.81;
  output Real x(unit = "m", start = 0.6, fixed = true) "to the right of the pivot";
  output Real y(unit = "m", start = -0.8) "above the pivot";
  Real vx(unit = "m/s", start = 0, fixed = true);
  Real vy(unit = "m/s");
  Real F(unit = "N/m") "force in the rod, for each unit of its length";
equation
  der(x) = vx;
  der(y) = vy;
  m*der(vx) = -F*x;
  m*der(vy) = -F*y - m*g;
  x^2 + y^2 = L^2;
  annotation(experiment(StartTime = 0, StopTime = 10, Tolerance = 1e-6, Interval = 0.02));
end Pendulum;
