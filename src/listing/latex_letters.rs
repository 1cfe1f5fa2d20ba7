//! Converts any letter to LaTeX that pdflatex can set with its standard fonts.
//!
//! Before: a letter of any script. After: LaTeX for text mode: accents are set on Latin letters, Greek letters are
//! set in math, Cyrillic letters are transliterated, signs use commands of TeX. Any other letter is replaced by its
//! number: `[U+4E2D]`.

use super::latex_names::greek;

/// The accents of TeX: command, base letters, accented letters.
const ACCENTS: &[(char, &str, &str)] = &[
    ('"', "YHhWwXxt", "ŸḦḧẄẅẌẍẗ"),
    ('\'', "CcLlNnRrSsZzGgKkMmPpWw", "ĆćĹĺŃńŔŕŚśŹźǴǵḰḱḾḿṔṕẂẃ"),
    (
        '.',
        "CcEeGgIZzAaOoBbDdFfHhMmNnPpRrSsTtWwXxYy",
        "ĊċĖėĠġİŻżȦȧȮȯḂḃḊḋḞḟḢḣṀṁṄṅṖṗṘṙṠṡṪṫẆẇẊẋẎẏ",
    ),
    ('=', "AaEeIiOoUuYyGg", "ĀāĒēĪīŌōŪūȲȳḠḡ"),
    ('H', "OoUu", "ŐőŰű"),
    ('^', "CcGgHhJjSsWwYyZz", "ĈĉĜĝĤĥĴĵŜŝŴŵŶŷẐẑ"),
    ('`', "NnWwYy", "ǸǹẀẁỲỳ"),
    ('b', "BbDdKkLlNnRrTtZzh", "ḆḇḎḏḴḵḺḻṈṉṞṟṮṯẔẕẖ"),
    ('c', "GgKkLlNnRrSsTtEeDdHh", "ĢģĶķĻļŅņŖŗŞşŢţȨȩḐḑḨḩ"),
    (
        'd',
        "BbDdHhKkLlMmNnRrSsTtVvWwZzAaEeIiOoUuYy",
        "ḄḅḌḍḤḥḲḳḶḷṂṃṆṇṚṛṢṣṬṭṾṿẈẉẒẓẠạẸẹỊịỌọỤụỴỵ",
    ),
    ('r', "Uuwy", "Ůůẘẙ"),
    ('u', "AaEeGgIiOoUu", "ĂăĔĕĞğĬĭŎŏŬŭ"),
    (
        'v',
        "CcDdEeLlNnRrSsTtZzAaIiOoUuGgKkjHh",
        "ČčĎďĚěĽľŇňŘřŠšŤťŽžǍǎǏǐǑǒǓǔǦǧǨǩǰȞȟ",
    ),
    ('~', "IiUuVvEeYy", "ĨĩŨũṼṽẼẽỸỹ"),
];

/// Letters and their replacements.
const SUBSTITUTES: &[(char, &str)] = &[
    ('Đ', "Dj"),
    ('đ', "dj"),
    ('ħ', "h"),
    ('Ħ', "H"),
    ('ı', "\\i{}"),
    ('ĳ', "ij"),
    ('Ĳ', "IJ"),
    ('ĸ', "k"),
    ('Ł', "\\L{}"),
    ('ł', "\\l{}"),
    ('Ŋ', "Ng"),
    ('ŋ', "ng"),
    ('Œ', "\\OE{}"),
    ('œ', "\\oe{}"),
    ('Ŧ', "T"),
    ('ŧ', "t"),
    ('ſ', "s"),
    ('ƒ', "f"),
    ('Ð', "Dh"),
    ('ð', "dh"),
    ('Þ', "Th"),
    ('þ', "th"),
    ('ẞ', "SS"),
    ('Ą', "A"),
    ('ą', "a"),
    ('Ę', "E"),
    ('ę', "e"),
    ('Į', "I"),
    ('į', "i"),
    ('Ų', "U"),
    ('ų', "u"),
    ('Ơ', "O"),
    ('ơ', "o"),
    ('Ư', "U"),
    ('ư', "u"),
    ('Α', "A"),
    ('Β', "B"),
    ('Ε', "E"),
    ('Ζ', "Z"),
    ('Η', "H"),
    ('Ι', "I"),
    ('Κ', "K"),
    ('Μ', "M"),
    ('Ν', "N"),
    ('Ο', "O"),
    ('Ρ', "P"),
    ('Τ', "T"),
    ('Χ', "X"),
    ('ο', "o"),
    ('ά', "\\ensuremath{\\alpha}"),
    ('έ', "\\ensuremath{\\epsilon}"),
    ('ή', "\\ensuremath{\\eta}"),
    ('ί', "\\ensuremath{\\iota}"),
    ('ό', "o"),
    ('ύ', "\\ensuremath{\\upsilon}"),
    ('ώ', "\\ensuremath{\\omega}"),
    ('ϑ', "\\ensuremath{\\vartheta}"),
    ('ϕ', "\\ensuremath{\\phi}"),
    ('ϵ', "\\ensuremath{\\epsilon}"),
    ('ϱ', "\\ensuremath{\\varrho}"),
    ('ϖ', "\\ensuremath{\\varpi}"),
    ('×', "\\ensuremath{\\times}"),
    ('÷', "\\ensuremath{\\div}"),
    ('±', "\\ensuremath{\\pm}"),
    ('¹', "\\textsuperscript{1}"),
    ('²', "\\textsuperscript{2}"),
    ('³', "\\textsuperscript{3}"),
    ('¼', "1/4"),
    ('½', "1/2"),
    ('¾', "3/4"),
    ('ª', "\\textsuperscript{a}"),
    ('º', "\\textsuperscript{o}"),
    ('«', "\\ensuremath{\\ll}"),
    ('»', "\\ensuremath{\\gg}"),
    ('§', "\\S{}"),
    ('¶', "\\P{}"),
    ('©', "(c)"),
    ('®', "(r)"),
    ('€', "EUR"),
    ('£', "\\pounds{}"),
    ('¿', "?"),
    ('¡', "!"),
    ('°', "\\textdegree{}"),
    ('µ', "\\textmu{}"),
    ('μ', "\\textmu{}"),
    ('Ω', "\\textohm{}"),
    ('·', "\\textperiodcentered{}"),
    ('⋅', "\\textperiodcentered{}"),
    ('•', "\\textbullet{}"),
    ('–', "\\textendash{}"),
    ('—', "\\textemdash{}"),
    ('‘', "\\textquoteleft{}"),
    ('’', "\\textquoteright{}"),
    ('“', "\\textquotedblleft{}"),
    ('”', "\\textquotedblright{}"),
    ('…', "..."),
    ('′', "'"),
    ('″', "''"),
    ('←', "\\ensuremath{\\leftarrow}"),
    ('→', "\\ensuremath{\\rightarrow}"),
    ('↔', "\\ensuremath{\\leftrightarrow}"),
    ('⇒', "\\ensuremath{\\Rightarrow}"),
    ('≤', "\\ensuremath{\\leq}"),
    ('≥', "\\ensuremath{\\geq}"),
    ('≠', "\\ensuremath{\\neq}"),
    ('≈', "\\ensuremath{\\approx}"),
    ('∞', "\\ensuremath{\\infty}"),
    ('√', "\\ensuremath{\\surd}"),
    ('∂', "\\ensuremath{\\partial}"),
    ('∇', "\\ensuremath{\\nabla}"),
    ('∑', "\\ensuremath{\\sum}"),
    ('∫', "\\ensuremath{\\int}"),
    ('−', "\\ensuremath{-}"),
    ('∆', "\\ensuremath{\\Delta}"),
    ('ℓ', "\\ensuremath{\\ell}"),
    ('ℏ', "\\ensuremath{\\hbar}"),
    ('Å', "\\r{A}"),
    ('\u{a0}', "~"),
];

/// Cyrillic letters and their transliterations.
const CYRILLIC: &[(char, &str)] = &[
    ('а', "a"),
    ('б', "b"),
    ('в', "v"),
    ('г', "g"),
    ('д', "d"),
    ('е', "e"),
    ('ж', "zh"),
    ('з', "z"),
    ('и', "i"),
    ('й', "j"),
    ('к', "k"),
    ('л', "l"),
    ('м', "m"),
    ('н', "n"),
    ('о', "o"),
    ('п', "p"),
    ('р', "r"),
    ('с', "s"),
    ('т', "t"),
    ('у', "u"),
    ('ф', "f"),
    ('х', "kh"),
    ('ц', "c"),
    ('ч', "ch"),
    ('ш', "sh"),
    ('щ', "shch"),
    ('ъ', "''"),
    ('ы', "y"),
    ('ь', "'"),
    ('э', "e"),
    ('ю', "yu"),
    ('я', "ya"),
    ('ё', "yo"),
    ('ђ', "dj"),
    ('ѓ', "gj"),
    ('є', "ye"),
    ('ѕ', "dz"),
    ('і', "i"),
    ('ї', "yi"),
    ('ј', "j"),
    ('љ', "lj"),
    ('њ', "nj"),
    ('ћ', "c"),
    ('ќ', "kj"),
    ('ў', "u"),
    ('џ', "dzh"),
    ('ґ', "g"),
];

/// Returns LaTeX for digits that are subscripts or superscripts.
fn digit(c: char) -> Option<String> {
    let of = |first: char| char::from_digit(u32::from(c) - u32::from(first), 10);
    match c {
        '₀'..='₉' => of('₀').map(|digit| format!("\\textsubscript{{{digit}}}")),
        '⁰' | '⁴'..='⁹' => of('⁰').map(|digit| format!("\\textsuperscript{{{digit}}}")),
        _ => None,
    }
}

/// Returns LaTeX for a letter that is not ASCII, in text mode.
pub(super) fn letter(c: char) -> String {
    let of = |table: &[(char, &str)], c: char| {
        let found = table.iter().find(|(known, _)| *known == c);
        found.map(|(_, text)| text.to_string())
    };
    if let Some(text) = of(SUBSTITUTES, c).or_else(|| digit(c)) {
        return text;
    }
    if let Some(word) = greek(c) {
        return format!("\\ensuremath{{\\{word}}}");
    }
    for &(accent, bases, made) in ACCENTS {
        let at = made.chars().position(|known| known == c);
        if let Some(base) = at.and_then(|at| bases.chars().nth(at)) {
            return match base {
                // `\i` and `\j` are letters without a dot.
                'i' | 'j' => format!("\\{accent}{{\\{base}}}"),
                _ => format!("\\{accent}{{{base}}}"),
            };
        }
    }
    // For a Cyrillic capital only the first Latin letter is a capital.
    let small = c.to_lowercase().next().unwrap_or(c);
    if let Some(text) = of(CYRILLIC, small) {
        let mut letters = text.chars();
        return match (small == c, letters.next()) {
            (false, Some(first)) => first.to_uppercase().chain(letters).collect(),
            _ => text,
        };
    }
    match c {
        // TeX knows all letters of the block Latin-1.
        'À'..='ÿ' => c.to_string(),
        _ => format!("[U+{:04X}]", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_of_all_scripts() {
        for (c, wanted) in [
            ('é', "é"),
            ('č', "\\v{c}"),
            ('ő', "\\H{o}"),
            ('ĩ', "\\~{\\i}"),
            ('ł', "\\l{}"),
            ('ω', "\\ensuremath{\\omega}"),
            ('Ж', "Zh"),
            ('ъ', "''"),
            ('²', "\\textsuperscript{2}"),
            ('₇', "\\textsubscript{7}"),
            ('中', "[U+4E2D]"),
        ] {
            assert_eq!(letter(c), wanted);
        }
    }
}
