//! Patterns of names: plain names, and those with `*` and `?`.

/// The patterns in lists such as `C1.*, y?`: commas separate them, blanks around them are ignored.
pub fn split(patterns: &[String]) -> impl Iterator<Item = &str> {
    (patterns.iter())
        .flat_map(|pattern| pattern.split(','))
        .map(str::trim)
        .filter(|pattern| !pattern.is_empty())
}

pub fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether a name matches the pattern: `*` matches any text, dots included, `?` one character.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // The place after the last star in the pattern, and the place in the name up to which the star matches. Backtracking
    // returns to this pair only.
    let mut back: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                p += 1;
                back = Some((p, n));
            }
            Some(b'?') => {
                p += 1;
                n += 1;
                while n < name.len() && is_inside_character(name[n]) {
                    n += 1;
                }
            }
            Some(&byte) if byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match back {
                Some((star, from)) => {
                    p = star;
                    n = from + 1;
                    while n < name.len() && is_inside_character(name[n]) {
                        n += 1;
                    }
                    back = Some((star, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// Whether a byte continues a character of several bytes (UTF-8).
fn is_inside_character(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The name inside `der(...)`, and the number of derivatives.
pub fn derivative(pattern: &str) -> (&str, u8) {
    let (mut inner, mut order) = (pattern, 0u8);
    while let Some(next) = (inner.strip_prefix("der(")).and_then(|rest| rest.strip_suffix(')')) {
        inner = next.trim();
        order = order.saturating_add(1);
    }
    (inner, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        let yes = [
            ("*", "a.b"),
            ("C1.*", "C1.A.e"),
            ("y?", "y1"),
            ("*.e", "C1.e"),
            ("*a*b", "aabab"),
            ("c[?].R*", "c[2].R1.u"),
            ("?", "é"),
            ("**", "x"),
            ("x", "x"),
        ];
        let no = [
            ("y?", "y"),
            ("y?", "y12"),
            ("C1.*", "C12.e"),
            ("*.e", "e"),
            ("?", "xy"),
            ("x", "xy"),
            ("*b", "ba"),
            ("", "a"),
        ];
        for (pattern, name) in yes {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in no {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        // Many stars take no more than the product of both lengths.
        let name = "a".repeat(5_000);
        assert!(!matches(&"*a".repeat(200).replace('a', "ab"), &name));
    }

    #[test]
    fn parts() {
        let patterns = ["a, b*,,".to_string(), " c ".to_string()];
        assert_eq!(split(&patterns).collect::<Vec<_>>(), ["a", "b*", "c"]);
        assert_eq!(derivative("der(der(C1.e))"), ("C1.e", 2));
        assert_eq!(derivative("C1.e"), ("C1.e", 0));
    }
}
