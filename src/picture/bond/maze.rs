//! Ways around what stands in a picture.
//!
//! Before: rectangles that no way may enter, and lines that it had better not cross. After: ways on a
//! grid from one box to another with few bends, found by A*; and which rectangles are free.

use super::layout::{Point, Rect};
use crate::base::cancel::glance;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub const STEP: f64 = 8.0;
/// The last piece of a way, where its arrowhead lies, is at least this long.
pub const LAST: f64 = 10.0;
/// A grown obstacle is thicker than a step: no step goes across one.
const AWAY: f64 = 4.5;
/// The ends of lines this far from one another do not disturb.
const ALONE: f64 = 12.0;
const BUCKET: f64 = 64.0;
/// A way that is not found after so many steps is not worth finding; nor are all of them together.
const PATIENCE: usize = 400_000;
const TOTAL: usize = 4_000_000;
/// A grid of more points is not searched: it would take hundreds of megabytes.
const LARGEST: usize = 2_000_000;

/// Rectangles by where they are.
#[derive(Debug, Default)]
pub struct Space {
    buckets: std::collections::BTreeMap<(i32, i32), Vec<Rect>>,
}

impl Space {
    fn keys(rect: Rect) -> impl Iterator<Item = (i32, i32)> {
        let at = |v: f64| (v / BUCKET).floor() as i32;
        let rows = at(rect.top)..=at(rect.bottom);
        rows.flat_map(move |y| (at(rect.left)..=at(rect.right)).map(move |x| (x, y)))
    }

    pub fn add(&mut self, rect: Rect) {
        for key in Space::keys(rect) {
            self.buckets.entry(key).or_default().push(rect);
        }
    }

    pub fn free(&self, rect: Rect) -> bool {
        Space::keys(rect).all(|key| {
            let here = self.buckets.get(&key);
            here.is_none_or(|list| list.iter().all(|other| !other.overlaps(rect)))
        })
    }
}

#[derive(Debug)]
pub struct Maze {
    origin: Point,
    columns: usize,
    rows: usize,
    blocked: Vec<bool>,
    /// What it costs to enter.
    dear: Vec<u32>,
    /// Obstacles as they are.
    pub solid: Space,
    /// Lines, as thin rectangles.
    pub lines: Space,
    spent: usize,
    best: Vec<(u32, u32)>,
    before: Vec<u32>,
    round: u32,
}

/// An end of a way: on the edge of a box, and the grid point before it.
#[derive(Clone, Copy, Debug)]
struct Gate {
    edge: Point,
    cell: usize,
    /// The direction from the box outwards: right, down, left, up.
    out: usize,
}

const WAYS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
const PLAIN: u32 = 10;
pub const BEND: u32 = 28;
const CROSSING: u32 = 30;

impl Maze {
    pub fn new(extent: Rect) -> Maze {
        let extent = extent.grown(6.0 * STEP);
        let columns = ((extent.right - extent.left) / STEP).ceil() as usize + 1;
        let rows = ((extent.bottom - extent.top) / STEP).ceil() as usize + 1;
        let (columns, rows) = if columns * rows > LARGEST {
            (0, 0)
        } else {
            (columns, rows)
        };
        let count = columns * rows;
        Maze {
            origin: Point::new(extent.left, extent.top),
            columns,
            rows,
            blocked: vec![false; count],
            dear: vec![PLAIN; count],
            solid: Space::default(),
            lines: Space::default(),
            spent: 0,
            best: vec![(0, 0); count * 4],
            before: vec![0; count * 4],
            round: 0,
        }
    }

    fn point(&self, cell: usize) -> Point {
        Point::new(
            self.origin.x + (cell % self.columns) as f64 * STEP,
            self.origin.y + (cell / self.columns) as f64 * STEP,
        )
    }

    /// The nearest point of the grid.
    pub fn snapped(&self, p: Point) -> Point {
        let snap = |v: f64, origin: f64| ((v - origin) / STEP).round() * STEP + origin;
        Point::new(snap(p.x, self.origin.x), snap(p.y, self.origin.y))
    }

    /// Grid points in a rectangle.
    fn inside(&self, rect: Rect) -> Vec<usize> {
        let range = |from: f64, to: f64, count: usize| {
            let from = (from / STEP).ceil().max(0.0) as usize;
            let to = ((to / STEP).floor() + 1.0).max(0.0) as usize;
            from..to.min(count)
        };
        let across = range(
            rect.left - self.origin.x,
            rect.right - self.origin.x,
            self.columns,
        );
        range(
            rect.top - self.origin.y,
            rect.bottom - self.origin.y,
            self.rows,
        )
        .flat_map(|y| across.clone().map(move |x| (x, y)))
        .map(|(x, y)| y * self.columns + x)
        .collect()
    }

    /// Nothing may go through here.
    pub fn block(&mut self, rect: Rect) {
        self.solid.add(rect);
        for cell in self.inside(rect.grown(AWAY)) {
            self.blocked[cell] = true;
        }
    }

    /// A line that other lines cross only if they must.
    pub fn line(&mut self, points: &[Point]) {
        for pair in points.windows(2) {
            let rect = Rect::around(pair[0], pair[1]);
            self.lines.add(rect.grown(1.0));
            for cell in self.inside(rect.grown(STEP / 2.0)) {
                self.dear[cell] = (self.dear[cell] + CROSSING).min(8 * CROSSING);
            }
        }
    }

    /// Where ways may leave a box: straight out of a side, past nothing solid.
    fn gates(&self, rect: Rect, least: f64) -> Vec<Gate> {
        let mut out = Vec::new();
        let around = self.inside(rect.grown(LAST + STEP));
        for cell in around {
            let p = self.point(cell);
            if self.blocked[cell] {
                continue;
            }
            let level = p.y > rect.top + 3.0 && p.y < rect.bottom - 3.0;
            let upright = p.x > rect.left + 3.0 && p.x < rect.right - 3.0;
            let gate = if level && p.x >= rect.right + least {
                Some((Point::new(rect.right, p.y), 0))
            } else if upright && p.y >= rect.bottom + least {
                Some((Point::new(p.x, rect.bottom), 1))
            } else if level && p.x <= rect.left - least {
                Some((Point::new(rect.left, p.y), 2))
            } else if upright && p.y <= rect.top - least {
                Some((Point::new(p.x, rect.top), 3))
            } else {
                None
            };
            let Some((edge, way)) = gate else { continue };
            let (x, y) = WAYS[way];
            let start = edge.plus(Point::new(f64::from(x), f64::from(y)), 0.5);
            let across = Rect::around(start, p);
            let wide = |by: f64| match y {
                0 => Rect::new(
                    across.left,
                    across.top - by,
                    across.right,
                    across.bottom + by,
                ),
                _ => Rect::new(
                    across.left - by,
                    across.top,
                    across.right + by,
                    across.bottom,
                ),
            };
            if self.solid.free(wide(3.5)) && self.lines.free(wide(3.5)) {
                let gate = Gate {
                    edge,
                    cell,
                    out: way,
                };
                out.push((self.lines.free(wide(ALONE)), gate));
            }
        }
        // Beside the end of a bond an arrow is hard to tell from it: only if there is no other place.
        let alone = out.iter().any(|(alone, _)| *alone);
        out.retain(|(is, _)| *is || !alone);
        out.into_iter().map(|(_, gate)| gate).collect()
    }

    /// The way with the fewest steps, bends and crossings, if there is one, and what it costs.
    pub fn way(&mut self, from: Rect, to: Rect) -> Option<(u32, Vec<Point>)> {
        let starts = self.gates(from, AWAY + 0.5);
        let goals = self.gates(to, LAST);
        if starts.is_empty() || goals.is_empty() {
            return None;
        }
        self.round += 1;
        let far = |p: Point| {
            let x = (to.left - p.x).max(p.x - to.right).max(0.0);
            let y = (to.top - p.y).max(p.y - to.bottom).max(0.0);
            ((x + y) / STEP) as u32 * PLAIN
        };
        let mut heap = BinaryHeap::new();
        for gate in &starts {
            let state = gate.cell * 4 + gate.out;
            self.best[state] = (self.round, 0);
            self.before[state] = u32::MAX;
            heap.push(Reverse((far(self.point(gate.cell)), 0, state)));
        }
        let mut left = PATIENCE.min(TOTAL.saturating_sub(self.spent));
        while let Some(Reverse((_, cost, state))) = heap.pop() {
            glance();
            if self.best[state] != (self.round, cost) {
                continue;
            }
            if left == 0 {
                return None;
            }
            left -= 1;
            self.spent += 1;
            let (cell, way) = (state / 4, state % 4);
            // Arrived: into the box without a bend.
            let goal = goals
                .iter()
                .find(|g| g.cell == cell && (g.out + 2) % 4 == way);
            if let Some(goal) = goal {
                return Some((cost, self.back(&starts, state, goal.edge)));
            }
            for turn in [0, 1, 3] {
                let next_way = (way + turn) % 4;
                let (x, y) = WAYS[next_way];
                let column = (cell % self.columns) as i32 + x;
                let row = (cell / self.columns) as i32 + y;
                if column < 0 || row < 0 || column >= self.columns as i32 || row >= self.rows as i32
                {
                    continue;
                }
                let next = row as usize * self.columns + column as usize;
                // The box that it comes from may be a text that is not there yet.
                let p = self.point(next);
                if self.blocked[next] || from.grown(AWAY).overlaps(Rect::around(p, p).grown(0.1)) {
                    continue;
                }
                let bend = if turn == 0 { 0 } else { BEND };
                let then = cost + self.dear[next] + bend;
                let there = next * 4 + next_way;
                if self.best[there].0 != self.round || self.best[there].1 > then {
                    self.best[there] = (self.round, then);
                    self.before[there] = state as u32;
                    heap.push(Reverse((then + far(self.point(next)), then, there)));
                }
            }
        }
        None
    }

    /// The corners of a way that has been found.
    fn back(&self, starts: &[Gate], last: usize, edge: Point) -> Vec<Point> {
        let mut points = vec![edge];
        let mut state = last;
        loop {
            let before = self.before[state];
            if before == u32::MAX {
                break;
            }
            if before as usize % 4 != state % 4 {
                points.push(self.point(before as usize / 4));
            }
            state = before as usize;
        }
        let start = starts.iter().find(|g| g.cell * 4 + g.out == state);
        points.extend(start.map(|gate| gate.edge));
        points.reverse();
        points
    }
}
