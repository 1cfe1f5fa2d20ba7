//! Reads an FMU as a zip file, by its own way: from one file to the next, up to the directory.

use std::path::Path;

/// Names and contents, in order.
pub fn unpacked(file: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(file).expect("a file can be read");
    let number = |at: usize, length: usize| {
        (bytes[at..at + length].iter().rev()).fold(0, |sum, &byte| sum * 256 + usize::from(byte))
    };
    let mut files = Vec::new();
    let mut at = 0;
    while &bytes[at..at + 4] == b"PK\x03\x04" {
        let (method, packed, whole) = (number(at + 8, 2), number(at + 18, 4), number(at + 22, 4));
        let (name, extra) = (number(at + 26, 2), number(at + 28, 2));
        // Neither an owner nor a time: 1980-01-01.
        assert_eq!(
            (method, number(at + 10, 2), number(at + 12, 2)),
            (8, 0, 0x21)
        );
        let begin = at + 30 + name + extra;
        let title = String::from_utf8(bytes[at + 30..at + 30 + name].to_vec()).expect("a name");
        let content = miniz_oxide::inflate::decompress_to_vec(&bytes[begin..begin + packed]);
        let content = content.expect("it can be unpacked");
        assert_eq!(content.len(), whole, "{title}");
        files.push((title, content));
        at = begin + packed;
    }
    assert_eq!(&bytes[at..at + 4], b"PK\x01\x02", "the directory follows");
    files
}

/// One of the files as text.
pub fn part(file: &Path, ends: &str) -> String {
    let found = (unpacked(file).into_iter()).find(|(name, _)| name.ends_with(ends));
    let (_, content) = found.unwrap_or_else(|| panic!("there is no file {ends}"));
    String::from_utf8(content).expect("text")
}

/// The same FMU without its binaries.
pub fn without_binary(file: &Path, to: &Path) {
    let bytes = std::fs::read(file).expect("a file can be read");
    // The directory names its files: those of binaries are left out of it, and of the count.
    let end = bytes.len() - 22;
    let at = |place: usize| {
        let four: [u8; 4] = bytes[place..place + 4].try_into().expect("four bytes");
        u32::from_le_bytes(four) as usize
    };
    let (size, mut entry) = (at(end + 12), at(end + 16));
    let mut kept = bytes[..entry].to_vec();
    let (begin, last, mut count) = (kept.len(), entry + size, 0u16);
    while entry < last {
        let name = usize::from(u16::from_le_bytes([bytes[entry + 28], bytes[entry + 29]]));
        let all = &bytes[entry..entry + 46 + name];
        if !all[46..].starts_with(b"binaries/") {
            kept.extend(all);
            count += 1;
        }
        entry += 46 + name;
    }
    let size = (kept.len() - begin) as u32;
    kept.extend(b"PK\x05\x06\0\0\0\0");
    kept.extend([count, count].iter().flat_map(|count| count.to_le_bytes()));
    kept.extend(size.to_le_bytes());
    kept.extend((begin as u32).to_le_bytes());
    kept.extend([0, 0]);
    std::fs::write(to, kept).expect("a file can be written");
}
