//! Rows of Tablestore in its encoding "plain buffer": tagged cells with checksums, integers in little-endian order.

/// The first word of all buffers.
const HEADER: u32 = 0x75;

const ROW_KEY: u8 = 1;
const ROW_DATA: u8 = 2;
const CELL: u8 = 3;
const CELL_NAME: u8 = 4;
const CELL_VALUE: u8 = 5;
const CELL_TYPE: u8 = 6;
const CELL_TIMESTAMP: u8 = 7;
const DELETE_ROW: u8 = 8;
const ROW_CHECKSUM: u8 = 9;
const CELL_CHECKSUM: u8 = 10;

/// The type of a string.
const STRING: u8 = 3;

/// A row with string columns, as locks and digests need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub key: Vec<(String, String)>,
    pub columns: Vec<(String, String)>,
}

/// The purpose of an encoded row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowUse {
    /// The row is written, or its key selects a row to read.
    Data,
    /// The row with this key is deleted.
    Deletion,
}

impl Row {
    /// Encodes the row.
    pub fn encoded(&self, usage: RowUse) -> Vec<u8> {
        let mut bytes = HEADER.to_le_bytes().to_vec();
        let mut checksum = 0;
        bytes.push(ROW_KEY);
        for (name, value) in &self.key {
            checksum = crc8(checksum, &[write_cell(&mut bytes, name, value)]);
        }
        if !self.columns.is_empty() {
            bytes.push(ROW_DATA);
        }
        for (name, value) in &self.columns {
            checksum = crc8(checksum, &[write_cell(&mut bytes, name, value)]);
        }
        if usage == RowUse::Deletion {
            bytes.push(DELETE_ROW);
        }
        // The checksum of a row covers a byte for the deletion, even in a row that is written.
        bytes.extend([ROW_CHECKSUM, crc8(checksum, &[u8::from(usage == RowUse::Deletion)])]);
        bytes
    }

    /// Decodes a row; `None` if the bytes are not one with string columns. No bytes are the answer for a missing row.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let mut row = Self::default();
        if reader.number()? != HEADER {
            return None;
        }
        let mut is_key = true;
        loop {
            match reader.byte()? {
                ROW_KEY => is_key = true,
                ROW_DATA => is_key = false,
                CELL => {
                    let cell = reader.cell()?;
                    if is_key { row.key.push(cell) } else { row.columns.push(cell) }
                }
                DELETE_ROW => {}
                // The transport checks the integrity of answers, so checksums are skipped.
                ROW_CHECKSUM => return Some(row),
                _ => return None,
            }
        }
    }
}

/// Returns a string in the form in which conditions contain it.
pub(super) fn encoded_value(value: &str) -> Vec<u8> {
    let mut bytes = vec![STRING];
    bytes.extend(length(value));
    bytes.extend(value.as_bytes());
    bytes
}

/// Writes a cell, and returns its checksum.
fn write_cell(bytes: &mut Vec<u8>, name: &str, value: &str) -> u8 {
    let encoded = encoded_value(value);
    bytes.extend([CELL, CELL_NAME]);
    bytes.extend(length(name));
    bytes.extend(name.as_bytes());
    bytes.push(CELL_VALUE);
    bytes.extend(u32::try_from(encoded.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(&encoded);
    let checksum = crc8(crc8(0, name.as_bytes()), &encoded);
    bytes.extend([CELL_CHECKSUM, checksum]);
    checksum
}

fn length(text: &str) -> [u8; 4] {
    // Lock infos and digests are far shorter than 4 GiB, so the conversion never saturates.
    u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes()
}

/// Returns the CRC-8 with the polynomial 0x07 of more bytes.
fn crc8(begin: u8, bytes: &[u8]) -> u8 {
    bytes.iter().fold(begin, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { (crc << 1) ^ 0x07 })
    })
}

/// A reader of an encoded row, over the bytes that it has not consumed yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        String::from_utf8(self.take(usize::try_from(length).ok()?)?.to_vec()).ok()
    }

    /// Reads a cell after its tag: name, value, and the parts that locks do not need.
    fn cell(&mut self) -> Option<(String, String)> {
        if self.byte()? != CELL_NAME {
            return None;
        }
        let name = self.text()?;
        let mut value = String::new();
        loop {
            match self.byte()? {
                CELL_VALUE => {
                    // The length of the whole value is skipped, because the string in it has its own.
                    self.number()?;
                    if self.byte()? != STRING {
                        return None;
                    }
                    value = self.text()?;
                }
                CELL_TYPE => {
                    self.byte()?;
                }
                CELL_TIMESTAMP => {
                    self.take(8)?;
                }
                CELL_CHECKSUM => {
                    self.byte()?;
                    return Some((name, value));
                }
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        Row { key: pair("LockID", "states/a"), columns: pair("Info", "{}") }
    }

    #[test]
    fn rows_are_decoded_back_and_damaged_ones_refused() {
        let bytes = row().encoded(RowUse::Data);
        assert_eq!(Row::decode(&bytes), Some(row()));
        for end in 0..bytes.len() {
            assert_eq!(Row::decode(&bytes[..end]).filter(|_| end + 1 < bytes.len()), None, "{end} bytes");
        }
        assert!(row().columns.contains(&("Info".to_owned(), "{}".to_owned())));
        let deletion = Row { columns: Vec::new(), ..row() }.encoded(RowUse::Deletion);
        assert_eq!(deletion[deletion.len() - 3..deletion.len() - 1], [DELETE_ROW, ROW_CHECKSUM]);
    }

    #[test]
    fn checksum_is_the_standard_one() {
        // The check value of CRC-8/SMBUS.
        assert_eq!(crc8(0, b"123456789"), 0xf4);
    }
}
