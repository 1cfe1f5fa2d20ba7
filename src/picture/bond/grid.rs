//! Routes lines around obstacles in a picture.
//!
//! Before: rectangles that no path may enter, and lines that it should not cross. After: paths on a
//! grid from one box to another with few bends, found by A*; and a test whether a rectangle is
//! free.

use super::layout::{Point, Rect};
use crate::base::cancel::glance;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub const STEP: f64 = 8.0;
/// The least length of the last piece of a path, where its arrowhead is.
pub const LAST_PIECE: f64 = 10.0;
/// The margin around obstacles. A grown obstacle is thicker than a step, so no step crosses one.
const CLEARANCE: f64 = 4.5;
/// Ends of lines are separate if they are this far apart.
const SEPARATE: f64 = 12.0;
const BUCKET: f64 = 64.0;
/// The largest number of steps of a search, and of all searches together.
const MAX_STEPS: usize = 400_000;
const TOTAL: usize = 4_000_000;
/// The largest number of grid points: a larger grid would take hundreds of megabytes.
const MAX_POINTS: usize = 2_000_000;

/// Rectangles, indexed by their places.
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
pub struct RoutingGrid {
    origin: Point,
    columns: usize,
    rows: usize,
    blocked: Vec<bool>,
    /// The cost of entering each grid point.
    cost_of: Vec<u32>,
    /// The obstacles without margins.
    pub obstacles: Space,
    /// The lines, as thin rectangles.
    pub lines: Space,
    spent: usize,
    best: Vec<(u32, u32)>,
    before: Vec<u32>,
    round: u32,
}

/// An end of a path: a point on the edge of a box, and the grid point before it.
#[derive(Clone, Copy, Debug)]
struct PathEnd {
    edge: Point,
    cell: usize,
    /// The direction from the box outwards: right, down, left, up.
    out: usize,
}

const WAYS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
const PLAIN: u32 = 10;
pub const BEND: u32 = 28;
const CROSSING: u32 = 30;

impl RoutingGrid {
    pub fn new(extent: Rect) -> RoutingGrid {
        let extent = extent.grown(6.0 * STEP);
        let columns = ((extent.right - extent.left) / STEP).ceil() as usize + 1;
        let rows = ((extent.bottom - extent.top) / STEP).ceil() as usize + 1;
        let (columns, rows) = if columns * rows > MAX_POINTS {
            (0, 0)
        } else {
            (columns, rows)
        };
        let count = columns * rows;
        RoutingGrid {
            origin: Point::new(extent.left, extent.top),
            columns,
            rows,
            blocked: vec![false; count],
            cost_of: vec![PLAIN; count],
            obstacles: Space::default(),
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

    /// Returns the nearest point of the grid.
    pub fn snapped(&self, p: Point) -> Point {
        let snap = |v: f64, origin: f64| ((v - origin) / STEP).round() * STEP + origin;
        Point::new(snap(p.x, self.origin.x), snap(p.y, self.origin.y))
    }

    /// Returns the grid points in a rectangle.
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

    /// Adds an obstacle.
    pub fn block(&mut self, rect: Rect) {
        self.obstacles.add(rect);
        for cell in self.inside(rect.grown(CLEARANCE)) {
            self.blocked[cell] = true;
        }
    }

    /// Adds a line that other lines should not cross.
    pub fn line(&mut self, points: &[Point]) {
        for pair in points.windows(2) {
            let rect = Rect::around(pair[0], pair[1]);
            self.lines.add(rect.grown(1.0));
            for cell in self.inside(rect.grown(STEP / 2.0)) {
                self.cost_of[cell] = (self.cost_of[cell] + CROSSING).min(8 * CROSSING);
            }
        }
    }

    /// Returns where paths may leave a box: straight out of a side, past no obstacle.
    fn path_ends(&self, rect: Rect, least: f64) -> Vec<PathEnd> {
        let mut out = Vec::new();
        let around = self.inside(rect.grown(LAST_PIECE + STEP));
        for cell in around {
            let p = self.point(cell);
            if self.blocked[cell] {
                continue;
            }
            let level = p.y > rect.top + 3.0 && p.y < rect.bottom - 3.0;
            let upright = p.x > rect.left + 3.0 && p.x < rect.right - 3.0;
            let path_end = if level && p.x >= rect.right + least {
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
            let Some((edge, way)) = path_end else {
                continue;
            };
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
            if self.obstacles.free(wide(3.5)) && self.lines.free(wide(3.5)) {
                let path_end = PathEnd {
                    edge,
                    cell,
                    out: way,
                };
                out.push((self.lines.free(wide(SEPARATE)), path_end));
            }
        }
        // An arrow beside the end of a bond is hard to distinguish from the bond, so such a place
        // is used only if there is no other.
        let alone = out.iter().any(|(alone, _)| *alone);
        out.retain(|(is, _)| *is || !alone);
        out.into_iter().map(|(_, path_end)| path_end).collect()
    }

    /// Finds the path with the lowest cost of steps, bends and crossings, if there is one. Returns
    /// its cost and its corners.
    pub fn find_path(&mut self, from: Rect, to: Rect) -> Option<(u32, Vec<Point>)> {
        let starts = self.path_ends(from, CLEARANCE + 0.5);
        let goals = self.path_ends(to, LAST_PIECE);
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
        for path_end in &starts {
            let state = path_end.cell * 4 + path_end.out;
            self.best[state] = (self.round, 0);
            self.before[state] = u32::MAX;
            heap.push(Reverse((far(self.point(path_end.cell)), 0, state)));
        }
        let mut left = MAX_STEPS.min(TOTAL.saturating_sub(self.spent));
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
            // The last step enters the box without a bend.
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
                // The box at which the path begins may be a text that has not been placed yet.
                let p = self.point(next);
                if self.blocked[next]
                    || from
                        .grown(CLEARANCE)
                        .overlaps(Rect::around(p, p).grown(0.1))
                {
                    continue;
                }
                let bend = if turn == 0 { 0 } else { BEND };
                let then = cost + self.cost_of[next] + bend;
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

    /// Returns the corners of a path that was found.
    fn back(&self, starts: &[PathEnd], last: usize, edge: Point) -> Vec<Point> {
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
        points.extend(start.map(|path_end| path_end.edge));
        points.reverse();
        points
    }
}
