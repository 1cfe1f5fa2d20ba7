//! Draws signals: thin arrows around everything else.
//!
//! Before: nodes, bonds and their texts have their places. After: an arrow for each signal, from
//! its node or from its name. If no path is free, its name is beside its target instead.

use super::grid::{BEND, LAST_PIECE, RoutingGrid, STEP};
use super::layout::{Arrow, ColourRole, Layout, Owner, Point, Rect};
use super::measure::{Line, SMALL};
use crate::bond::sketch::{Signal, Sketch};

/// An arrowhead: its length, half its width, and the distance from the node at which it ends.
const HEAD: f64 = 7.0;
const WING: f64 = 2.8;
const SHORT: f64 = 1.5;
/// The number of rings around a box in which places for the name of a signal are searched.
const RINGS: i32 = 14;
/// The number of places of a name that are compared.
const TRIES: usize = 16;

pub fn route(sketch: &Sketch, out: &mut Layout) {
    let count = sketch.nodes.len();
    let wanted: Vec<usize> = (0..sketch.signals.len())
        .filter(|at| sketch.signals[*at].to < count)
        .collect();
    if wanted.is_empty() {
        return;
    }
    let mut grid = RoutingGrid::new(out.extent());
    for rect in &out.boxes {
        grid.block(*rect);
    }
    for label in &out.labels {
        grid.block(label.area);
    }
    for bar in &out.bars {
        grid.block(Rect::around(bar.ends[0], bar.ends[1]));
    }
    for harpoon in &out.harpoons {
        grid.block(Rect::around(harpoon.tip, harpoon.barb));
    }
    for wire in &out.wires {
        grid.line(&wire.points);
    }
    for at in wanted {
        one(sketch, out, &mut grid, at);
    }
}

fn one(sketch: &Sketch, out: &mut Layout, grid: &mut RoutingGrid, at: usize) {
    let signal = &sketch.signals[at];
    let target = out.boxes[signal.to];
    let from = signal
        .from
        .filter(|f| *f < out.boxes.len() && *f != signal.to);
    if let Some(from) = from
        && let Some((_, points)) = grid.find_path(out.boxes[from], target)
    {
        draw(out, grid, at, points.clone());
        if !signal.label.is_empty() {
            beside(out, grid, at, &signal.label, &points);
        }
        return;
    }
    route_from_name(sketch, out, grid, at, from);
}

/// Places a name near the target, and draws an arrow from it to the target. `from` is the node at
/// which the signal begins, if it is named in the text. The obstacles have to be in `grid`; the new
/// text and line are added to `out` and to `grid`.
fn route_from_name(
    sketch: &Sketch,
    out: &mut Layout,
    grid: &mut RoutingGrid,
    at: usize,
    from: Option<usize>,
) {
    let signal = &sketch.signals[at];
    let target = out.boxes[signal.to];
    let line = Line::new("", &name(sketch, signal, from), SMALL, ColourRole::Faint);
    let mut best: Option<(u32, Rect, Vec<Point>)> = None;
    let mut tries = 0;
    for centre in rings(target, &line) {
        // The centre is on the grid, so that a straight path from it is possible.
        let area = around(grid.snapped(centre), &line);
        if !clear(grid, area.grown(3.0)) {
            continue;
        }
        tries += 1;
        if let Some((cost, points)) = grid.find_path(area, target)
            && best.as_ref().is_none_or(|(least, ..)| cost < *least)
        {
            best = Some((cost, area, points));
        }
        // A near and straight path ends the search.
        let good = best.as_ref().is_some_and(|(cost, ..)| *cost <= BEND);
        if good || tries == TRIES {
            break;
        }
    }
    if let Some((_, area, points)) = best {
        put(out, grid, at, &line, area);
        draw(out, grid, at, points);
        return;
    }
    // There is no path, so the text names the target.
    let to = &sketch.nodes[signal.to].name;
    let text = format!("{} \u{2192} {to}", line.plain);
    let line = Line::new("", &text, SMALL, ColourRole::Faint);
    let place = rings(target, &line)
        .map(|centre| around(centre, &line))
        .find(|area| clear(grid, area.grown(2.0)));
    let outside = || {
        let extent = out.extent();
        let middle = extent.left + line.width / 2.0;
        around(
            Point::new(middle, extent.bottom + 2.0 * line.height()),
            &line,
        )
    };
    let area = place.unwrap_or_else(outside);
    put(out, grid, at, &line, area);
}

/// Returns the text at the beginning of a signal that does not begin at its node.
fn name(sketch: &Sketch, signal: &Signal, from: Option<usize>) -> String {
    match from {
        _ if !signal.label.is_empty() => signal.label.clone(),
        Some(node) if !sketch.nodes[node].name.is_empty() => sketch.nodes[node].name.clone(),
        Some(node) => sketch.nodes[node].kind.clone(),
        None => "input".to_string(),
    }
}

fn around(centre: Point, line: &Line) -> Rect {
    let (half, tall) = (line.width / 2.0, line.height() / 2.0);
    Rect::new(
        centre.x - half,
        centre.y - tall,
        centre.x + half,
        centre.y + tall,
    )
}

fn clear(grid: &RoutingGrid, area: Rect) -> bool {
    grid.obstacles.free(area) && grid.lines.free(area)
}

/// Returns places for a text around a box, the nearest ones first.
fn rings(target: Rect, line: &Line) -> impl Iterator<Item = Point> {
    let middle = target.centre();
    let (half, tall) = (line.width / 2.0, line.height() / 2.0);
    (0..RINGS).flat_map(move |ring| {
        let away = 2.5 * LAST_PIECE + f64::from(ring) * STEP;
        let side = (target.right - target.left) / 2.0 + half + away;
        let over = (target.bottom - target.top) / 2.0 + tall + away;
        let steps = -(ring + 1)..=ring + 1;
        let mut places: Vec<(i32, Point)> = Vec::new();
        for step in steps {
            let part = f64::from(step) / f64::from(ring + 1);
            for sign in [-1.0, 1.0] {
                let x = Point::new(middle.x + sign * side, middle.y + part * over);
                let y = Point::new(middle.x + part * side, middle.y + sign * over);
                places.push((step.abs(), x));
                places.push((step.abs(), y));
            }
        }
        places.sort_by_key(|(step, _)| *step);
        places.into_iter().map(|(_, place)| place)
    })
}

fn put(out: &mut Layout, grid: &mut RoutingGrid, at: usize, line: &Line, area: Rect) {
    let top = Point::new(area.centre().x, area.top);
    out.labels.push(line.under(top, Owner::Signal(at)));
    grid.block(area);
}

/// Places the name of a signal beside its line, if there is room.
fn beside(out: &mut Layout, grid: &mut RoutingGrid, at: usize, text: &str, points: &[Point]) {
    let line = Line::new("", text, SMALL, ColourRole::Faint);
    let mut places = Vec::new();
    let (half, tall) = (line.width / 2.0 + 3.0, line.height() / 2.0 + 2.0);
    for pair in points.windows(2) {
        let level = (pair[0].y - pair[1].y).abs() < 0.01;
        for part in [0.5, 0.3, 0.7, 0.15, 0.85] {
            let x = pair[0].x + (pair[1].x - pair[0].x) * part;
            let y = pair[0].y + (pair[1].y - pair[0].y) * part;
            for sign in [-1.0, 1.0] {
                places.push(if level {
                    Point::new(x, y + sign * tall)
                } else {
                    Point::new(x - sign * half, y)
                });
            }
        }
    }
    // A long piece is preferred, because there it is easier to see to what the name belongs.
    let found = places
        .into_iter()
        .map(|centre| around(centre, &line))
        .find(|area| clear(grid, area.grown(0.9)));
    let found = found.or_else(|| {
        let start = Rect::around(points[0], points[0]);
        let near = rings(start, &line).map(|centre| around(centre, &line));
        near.take(400).find(|area| clear(grid, area.grown(0.9)))
    });
    if let Some(area) = found {
        put(out, grid, at, &line, area);
    }
}

fn draw(out: &mut Layout, grid: &mut RoutingGrid, signal: usize, mut points: Vec<Point>) {
    let count = points.len();
    if count < 2 {
        return;
    }
    let (before, end) = (points[count - 2], points[count - 1]);
    let (x, y) = (end.x - before.x, end.y - before.y);
    let length = x.hypot(y).max(1e-9);
    let along = Point::new(x / length, y / length);
    let across = Point::new(along.y, -along.x);
    let tip = end.plus(along, -SHORT);
    let base = tip.plus(along, -HEAD);
    let head = [tip, base.plus(across, WING), base.plus(across, -WING)];
    points[count - 1] = base;
    grid.line(&points);
    grid.block(Rect::around(head[1], head[2]).with(Rect::around(tip, base)));
    out.arrows.push(Arrow {
        signal,
        points,
        head,
    });
}
