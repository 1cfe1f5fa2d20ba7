//! A small reader of SVG: enough to see that tags are balanced and that everything lies inside.

use bgm::picture::svg::text;

#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub text: String,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str) -> f64 {
        let value = self.get(name).unwrap_or("0");
        value.parse().unwrap_or_else(|_| panic!("{name}={value}"))
    }

    pub fn points(&self) -> Vec<(f64, f64)> {
        let points = self.get("points").unwrap_or_default().split_whitespace();
        let point = |text: &str| {
            let (x, y) = text.split_once(',').expect("a point has two numbers");
            (x.parse().expect("x"), y.parse().expect("y"))
        };
        points.map(point).collect()
    }
}

/// All elements in the order in which they open. Panics where the text is not well formed.
pub fn elements(svg: &str) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let between = unescaped(&rest[..start]);
        match open.last() {
            Some(&at) => found[at].text.push_str(&between),
            None => assert!(between.trim().is_empty(), "text outside: {between}"),
        }
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        assert!(!tag.contains('<'), "a tag in a tag: {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            let at = open.pop().expect("something is open");
            assert_eq!(found[at].name, name, "closed in the wrong order");
            continue;
        }
        let (tag, single) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        if !single {
            open.push(found.len());
        }
        found.push(element(tag));
    }
    assert!(open.is_empty(), "not closed");
    assert!(rest.trim().is_empty(), "text after the end");
    found
}

fn element(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes: Vec<(String, String)> = Vec::new();
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"').expect("a value ends");
        let key = key.trim().to_string();
        assert!(
            attributes.iter().all(|(other, _)| *other != key),
            "{key} twice"
        );
        attributes.push((key, unescaped(value)));
        rest = after;
    }
    assert!(rest.trim().is_empty(), "{rest} in <{tag}>");
    Element {
        name: name.to_string(),
        attributes,
        text: String::new(),
    }
}

fn unescaped(text: &str) -> String {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
        assert!(
            known.iter().any(|k| text[at..].starts_with(k)),
            "bare & in {text}"
        );
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Checks the whole picture and gives its elements.
pub fn checked(svg: &str) -> Vec<Element> {
    let elements = elements(svg);
    let (width, height) = (elements[0].number("width"), elements[0].number("height"));
    assert_eq!(elements[0].name, "svg");
    assert_eq!(
        elements[0].get("viewBox").unwrap_or_default(),
        format!("0 0 {width} {height}")
    );
    assert!(width < 1200.0 && height < 3000.0, "{width} by {height}");
    let inside = |x: f64, y: f64, what: &Element| {
        assert!(
            (0.0..=width).contains(&x) && (0.0..=height).contains(&y),
            "({x}, {y}) is not in {width} by {height}: {what:?}"
        );
    };
    for element in &elements {
        match element.name.as_str() {
            "rect" => {
                let (x, y) = (element.number("x"), element.number("y"));
                inside(x, y, element);
                inside(
                    x + element.number("width"),
                    y + element.number("height"),
                    element,
                );
            }
            "line" => {
                inside(element.number("x1"), element.number("y1"), element);
                inside(element.number("x2"), element.number("y2"), element);
            }
            "circle" => inside(element.number("cx"), element.number("cy"), element),
            "polyline" => {
                let points = element.points();
                assert!(points.len() > 1, "a line has two points");
                assert!(points.len() <= 4100, "{} points", points.len());
                points.iter().for_each(|&(x, y)| inside(x, y, element));
            }
            "text" => {
                // The tooltip, which is an element of its own, has its own text.
                let (x, y) = (element.number("x"), element.number("y"));
                let size = element.number("font-size");
                let bold = element.get("font-weight") == Some("bold");
                let factor = if bold { text::BOLD } else { 1.0 };
                let long = text::width(&element.text, size * factor);
                let before = match element.get("text-anchor") {
                    Some("middle") => long / 2.0,
                    Some("end") => long,
                    _ => 0.0,
                };
                if element.get("transform").is_some() {
                    inside(x, y + before, element);
                    inside(x - size, y + before - long, element);
                } else {
                    inside(x - before, y - size, element);
                    inside(x - before + long, y, element);
                }
            }
            "svg" | "g" | "title" => {}
            other => panic!("an element {other}"),
        }
    }
    elements
}

/// What the texts say.
pub fn texts(elements: &[Element]) -> Vec<&str> {
    let texts = elements.iter().filter(|element| element.name == "text");
    texts.map(|element| element.text.trim_end()).collect()
}
