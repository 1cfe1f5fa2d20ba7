//! What holds for every picture.

use bgm::bond::sketch::{Shape, Sketch};
use bgm::picture::bond::{Layout, Owner, Point, Rect, layout};

/// Something that covers ground: where it is, and whose it is.
#[derive(Debug)]
struct Thing {
    rect: Rect,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    Node(usize),
    Text(Owner, String),
    Stroke(usize),
    Barb(usize),
    Head(usize),
}

fn things(drawn: &Layout) -> Vec<Thing> {
    let mut out = Vec::new();
    for (at, rect) in drawn.boxes.iter().enumerate() {
        out.push(Thing {
            rect: *rect,
            what: What::Node(at),
        });
    }
    for label in &drawn.labels {
        out.push(Thing {
            rect: label.area,
            what: What::Text(label.owner, format!("{}{}", label.bold, label.plain)),
        });
    }
    for bar in &drawn.bars {
        // A stroke is 2 thick.
        let [a, b] = bar.ends;
        let rect = Rect::around(a, b);
        let rect = if a.x == b.x {
            Rect::new(rect.left - 1.0, rect.top, rect.right + 1.0, rect.bottom)
        } else {
            Rect::new(rect.left, rect.top - 1.0, rect.right, rect.bottom + 1.0)
        };
        out.push(Thing {
            rect,
            what: What::Stroke(bar.bond),
        });
    }
    for harpoon in &drawn.harpoons {
        out.push(Thing {
            rect: Rect::around(harpoon.tip, harpoon.barb),
            what: What::Barb(harpoon.bond),
        });
    }
    for arrow in &drawn.arrows {
        let [a, b, c] = arrow.head;
        out.push(Thing {
            rect: Rect::around(a, b).with(Rect::around(a, c)),
            what: What::Head(arrow.signal),
        });
    }
    out
}

/// The texts of a node stand in its box.
fn may(a: &Thing, b: &Thing) -> bool {
    match (&a.what, &b.what) {
        (What::Node(node), What::Text(Owner::Node(of), _)) if node == of => {
            let (outer, inner) = (a.rect, b.rect);
            inner.left >= outer.left - 1e-9
                && inner.right <= outer.right + 1e-9
                && inner.top >= outer.top - 1e-9
                && inner.bottom <= outer.bottom + 1e-9
        }
        _ => false,
    }
}

fn enters(a: Point, b: Point, rect: Rect) -> bool {
    // All lines are level or upright.
    let inner = rect.grown(-0.05);
    inner.right > inner.left
        && inner.bottom > inner.top
        && Rect::around(a, b).grown(0.01).overlaps(inner)
}

pub fn sound(sketch: &Sketch) -> Result<(), String> {
    let drawn = layout(sketch);
    let things = things(&drawn);
    for thing in &things {
        let r = thing.rect;
        if r.left < 0.0 || r.top < 0.0 || r.right > drawn.width || r.bottom > drawn.height {
            return Err(format!("outside: {thing:?}"));
        }
    }
    let mut sorted: Vec<&Thing> = things.iter().collect();
    sorted.sort_by(|a, b| a.rect.left.total_cmp(&b.rect.left));
    for (at, a) in sorted.iter().enumerate() {
        for b in &sorted[at + 1..] {
            if b.rect.left > a.rect.right {
                break;
            }
            if a.rect.overlaps(b.rect) && !may(a, b) && !may(b, a) {
                return Err(format!("{a:?} overlaps {b:?}"));
            }
        }
    }
    for wire in &drawn.wires {
        for pair in wire.points.windows(2) {
            if pair[0].x != pair[1].x && pair[0].y != pair[1].y {
                return Err(format!("bond {} is oblique: {pair:?}", wire.bond));
            }
            for thing in &things {
                let own = match &thing.what {
                    // Wires end before their own nodes, so that they may enter none at all.
                    What::Node(_) | What::Text(..) => false,
                    What::Stroke(bond) | What::Barb(bond) => *bond == wire.bond,
                    What::Head(_) => true,
                };
                if !own && enters(pair[0], pair[1], thing.rect) {
                    return Err(format!("bond {} goes through {thing:?}", wire.bond));
                }
            }
        }
    }
    for arrow in &drawn.arrows {
        for pair in arrow.points.windows(2) {
            for thing in &things {
                let passes = thing.what != What::Head(arrow.signal);
                if passes && enters(pair[0], pair[1], thing.rect) {
                    return Err(format!("signal {} goes through {thing:?}", arrow.signal));
                }
            }
        }
    }
    complete(sketch, &drawn)
}

/// Everything of the sketch is there.
fn complete(sketch: &Sketch, drawn: &Layout) -> Result<(), String> {
    let count = sketch.nodes.len();
    let real = |bond: usize| sketch.bonds[bond].from < count && sketch.bonds[bond].to < count;
    let wanted = (0..sketch.bonds.len()).filter(|b| real(*b));
    let mut wires: Vec<usize> = drawn.wires.iter().map(|w| w.bond).collect();
    wires.sort_unstable();
    if !wires.iter().copied().eq(wanted.clone()) {
        return Err(format!("the bonds {wires:?} are drawn"));
    }
    for bond in wanted {
        let said = &sketch.bonds[bond];
        let bars = drawn.bars.iter().filter(|b| b.bond == bond).count();
        let barbs = drawn.harpoons.iter().filter(|h| h.bond == bond).count();
        let owner = Owner::Bond(bond);
        let texts = drawn.labels.iter().filter(|l| l.owner == owner).count();
        if bars != usize::from(said.stroke.is_some()) || barbs != 1 {
            return Err(format!("bond {bond}: {bars} strokes, {barbs} half arrows"));
        }
        if texts != usize::from(!said.label.is_empty()) {
            return Err(format!("bond {bond} has {texts} numbers"));
        }
    }
    for (at, node) in sketch.nodes.iter().enumerate() {
        let owned = drawn.labels.iter().filter(|l| l.owner == Owner::Node(at));
        let named = usize::from(node.shape == Shape::Junction && !node.name.is_empty());
        if owned.count() < 1 + named + node.values.len() {
            return Err(format!("node {at} lacks texts"));
        }
    }
    for (at, signal) in sketch.signals.iter().enumerate() {
        let arrow = drawn.arrows.iter().any(|a| a.signal == at);
        let text = drawn.labels.iter().any(|l| l.owner == Owner::Signal(at));
        if signal.to < count && !arrow && !text {
            return Err(format!("signal {at} is not drawn"));
        }
    }
    Ok(())
}

/// Where bonds cross, and where they lie on one another.
pub fn crossings(drawn: &Layout) -> (usize, usize) {
    let pieces: Vec<(usize, Point, Point)> = drawn
        .wires
        .iter()
        .flat_map(|w| w.points.windows(2).map(|p| (w.bond, p[0], p[1])))
        .collect();
    let (mut crossed, mut shared) = (0, 0);
    for (at, (bond, a, b)) in pieces.iter().enumerate() {
        for (other, c, d) in &pieces[at + 1..] {
            let near = Rect::around(*a, *b).grown(0.01);
            if bond == other || !near.overlaps(Rect::around(*c, *d).grown(0.01)) {
                continue;
            }
            if (a.x == b.x) == (c.x == d.x) {
                shared += 1;
            } else {
                crossed += 1;
            }
        }
    }
    (crossed, shared)
}

/// A small reader of XML: tags match, attributes are quoted, `&` begins an entity.
pub fn well_formed(text: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    let mut roots = 0;
    while !rest.is_empty() {
        let Some(start) = rest.find('<') else {
            characters(rest)?;
            break;
        };
        characters(&rest[..start])?;
        if open.is_empty() && !rest[..start].trim().is_empty() {
            return Err(format!("text outside: {}", &rest[..start]));
        }
        rest = &rest[start + 1..];
        let end = rest.find('>').ok_or("a tag that does not end")?;
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let (tag, closed) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let name = tag.split(' ').next().unwrap_or("");
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(format!("<{tag}> has no name"));
        }
        attributes(tag[name.len()..].trim_start())?;
        roots += usize::from(open.is_empty());
        if !closed {
            open.push(name.to_string());
        }
    }
    if !open.is_empty() || roots != 1 {
        return Err(format!("{open:?} left open, {roots} roots"));
    }
    Ok(())
}

fn attributes(mut rest: &str) -> Result<(), String> {
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").ok_or(format!("no value: {rest}"))?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(format!("attribute {name}"));
        }
        let (value, more) = value.split_once('"').ok_or(format!("no end: {rest}"))?;
        characters(value)?;
        rest = more.trim_start();
    }
    Ok(())
}

fn characters(text: &str) -> Result<(), String> {
    for (at, c) in text.char_indices() {
        if c == '<' || (c < ' ' && c != '\n') {
            return Err(format!("{c:?} in {text}"));
        }
        if c == '&' {
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
            if !known.iter().any(|entity| text[at..].starts_with(entity)) {
                return Err(format!("& in {text}"));
            }
        }
    }
    Ok(())
}
