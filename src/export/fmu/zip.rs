//! Packs files into an archive in the zip format, deflated.
//!
//! Before: names and contents. After: the bytes of an archive. They depend on nothing else: no time, no owner, and the
//! order as given.

use miniz_oxide::deflate::compress_to_vec;

use crate::export::Refusal;

/// 1980-01-01 00:00, the first time that the format can express.
const DATE: u16 = 0x21;
/// UTF-8 names.
const FLAGS: u16 = 0x800;
const DEFLATED: u16 = 8;
/// The version of the format that deflated files need, and the same version made on Unix.
const VERSION: u16 = 20;
const MADE: u16 = 0x314;
const LEVEL: u8 = 9;

/// The archive; `Err` where it would be larger than the format allows.
pub fn archive(files: &[(String, &[u8])]) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    let too_large = |name: &str| Refusal(format!("`{name}` is too large for a zip file"));
    for (name, content) in files {
        let packed = compress_to_vec(content, LEVEL);
        let fits = |size: usize| u32::try_from(size).map_err(|_| too_large(name));
        let (offset, size, whole) = (fits(out.len())?, fits(packed.len())?, fits(content.len())?);
        let length = u16::try_from(name.len()).map_err(|_| too_large(name))?;
        // The fields that stand both before a file and in the directory.
        let mut head = Vec::new();
        for part in [VERSION, FLAGS, DEFLATED, 0, DATE] {
            head.extend(part.to_le_bytes());
        }
        for part in [checksum(content), size, whole] {
            head.extend(part.to_le_bytes());
        }
        head.extend(length.to_le_bytes());
        head.extend(0u16.to_le_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&head);
        out.extend(name.as_bytes());
        out.extend(&packed);
        directory.extend(b"PK\x01\x02");
        directory.extend(MADE.to_le_bytes());
        directory.extend(&head);
        // No comment, the first disk, binary content.
        directory.extend([0; 6]);
        // A plain file that all may read.
        directory.extend((0o100_644u32 << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let all = u16::try_from(files.len()).map_err(|_| too_large("an archive"))?;
    let fits = |size: usize| u32::try_from(size).map_err(|_| too_large("an archive"));
    let (size, offset) = (fits(directory.len())?, fits(out.len())?);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    for part in [all, all] {
        out.extend(part.to_le_bytes());
    }
    for part in [size, offset] {
        out.extend(part.to_le_bytes());
    }
    out.extend([0; 2]);
    Ok(out)
}

/// CRC-32 as of zip, a byte at a time.
fn checksum(content: &[u8]) -> u32 {
    let mut table = [0u32; 256];
    for (at, entry) in table.iter_mut().enumerate() {
        let mut value = at as u32;
        for _ in 0..8 {
            value = if value & 1 == 1 {
                0xedb8_8320 ^ (value >> 1)
            } else {
                value >> 1
            };
        }
        *entry = value;
    }
    !(content.iter()).fold(!0, |sum, &byte| {
        table[usize::from(sum as u8 ^ byte)] ^ (sum >> 8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value that the definition of the checksum gives.
    #[test]
    fn checksums() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn an_archive_is_its_contents_and_nothing_else() {
        let files = [
            (
                "a.txt".to_string(),
                &b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"[..],
            ),
            ("b/c.txt".to_string(), &b""[..]),
        ];
        let Ok(bytes) = archive(&files) else {
            panic!("it is small");
        };
        assert_eq!(archive(&files), Ok(bytes.clone()));
        assert!(bytes.starts_with(b"PK\x03\x04"));
        // The end: two files, the size of the directory and where it begins.
        let end = &bytes[bytes.len() - 22..];
        assert_eq!(&end[..12], b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
        let number =
            |at: usize| u32::from_le_bytes([end[at], end[at + 1], end[at + 2], end[at + 3]]);
        let (size, offset) = (number(12) as usize, number(16) as usize);
        assert_eq!(offset + size + 22, bytes.len());
        assert!(bytes[offset..].starts_with(b"PK\x01\x02"));
    }
}
