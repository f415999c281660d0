//! Address blocks: parsing, sub-blocks and hosts, for IPv4 and IPv6 alike.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// The two families of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }
}

/// One address; IPv4 addresses use the low 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) family: Family,
    pub(super) number: u128,
}

/// A network: its first address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) family: Family,
    pub(super) first: u128,
    pub(super) length: u32,
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.family {
            Family::V4 => Ipv4Addr::from_bits(u32::try_from(self.number).unwrap_or(u32::MAX)).fmt(out),
            Family::V6 => Ipv6Addr::from_bits(self.number).fmt(out),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", Address { family: self.family, number: self.first }, self.length)
    }
}

/// Reads an address. Numbers with leading zeros are decimal, as configurations have relied on since early versions.
pub(super) fn parse_address(text: &str) -> Option<Address> {
    if text.contains(':') {
        return Some(Address { family: Family::V6, number: text.parse::<Ipv6Addr>().ok()?.to_bits() });
    }
    let mut number = 0_u128;
    let mut count = 0;
    for part in text.split('.') {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // Trimming leaves nothing of "0" and "000", which `parse` would reject.
        number = number << 8
            | u128::from(
                part.trim_start_matches('0')
                    .parse::<u8>()
                    .or_else(|problem| if part.bytes().all(|byte| byte == b'0') { Ok(0) } else { Err(problem) })
                    .ok()?,
            );
        count += 1;
    }
    (count == 4).then_some(Address { family: Family::V4, number })
}

/// The reason why a block of addresses cannot be read or divided.
#[derive(Clone, Debug, Error)]
pub(super) enum CidrError {
    #[error("invalid CIDR expression: invalid CIDR address: {0}")]
    Invalid(String),
    #[error("a block with a prefix of {length} bits has no host with the number {number}")]
    NoSuchHost { length: u32, number: Ordinal },
    #[error("a prefix of {length} bits cannot be made {new_bits} bits longer: addresses have fewer bits")]
    TooLong { length: u32, new_bits: u32 },
    #[error("{new_bits} more bits are too few for a subnet with the number {number}")]
    NoSuchSubnet { new_bits: u32, number: Ordinal },
}

/// Reads `address/length` and drops the host bits.
pub(super) fn parse_block(text: &str) -> Result<Block, CidrError> {
    let invalid = || CidrError::Invalid(text.to_owned());
    let (address, length) = text.split_once('/').ok_or_else(invalid)?;
    let address = parse_address(address).ok_or_else(invalid)?;
    // Checked here, because `parse` accepts a leading plus sign.
    if length.is_empty() || length.len() > 3 || !length.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid());
    }
    let length = length.parse::<u32>().ok().filter(|length| *length <= address.family.bits()).ok_or_else(invalid)?;
    let block = Block { family: address.family, first: address.number, length };
    Ok(Block { first: address.number & !block.host_mask(), ..block })
}

impl Block {
    /// Returns the number of bits of the host part.
    pub(super) fn host_bits(self) -> u32 {
        self.family.bits() - self.length
    }

    fn host_mask(self) -> u128 {
        low_bits(self.host_bits())
    }

    /// The last address of the block.
    pub(super) fn last(self) -> u128 {
        self.first | self.host_mask()
    }

    /// Whether `address` lies in the block; families never mix.
    pub(super) fn contains(self, address: Address) -> bool {
        address.family == self.family && (self.first..=self.last()).contains(&address.number)
    }

    /// The mask in the notation of addresses.
    pub(super) fn netmask(self) -> Address {
        Address { family: self.family, number: low_bits(self.family.bits()) & !self.host_mask() }
    }

    /// The host of the given number; negative numbers count from the end of the block.
    pub(super) fn host(self, number: Ordinal) -> Result<Address, CidrError> {
        let most = self.host_mask();
        if number.magnitude > most {
            return Err(CidrError::NoSuchHost { length: self.length, number });
        }
        let offset = if number.from_end { most - number.magnitude } else { number.magnitude };
        Ok(Address { family: self.family, number: self.first | offset })
    }

    /// The sub-block of the given number among those whose prefix is `new_bits` longer.
    pub(super) fn subnet(self, new_bits: u32, number: Ordinal) -> Result<Self, CidrError> {
        let length = self.length + new_bits;
        if length > self.family.bits() {
            return Err(CidrError::TooLong { length: self.length, new_bits });
        }
        let most = low_bits(new_bits);
        if number.magnitude > most {
            return Err(CidrError::NoSuchSubnet { new_bits, number });
        }
        let index = if number.from_end { most - number.magnitude } else { number.magnitude };
        let shift = self.family.bits() - length;
        // The shift is as wide as the number only for ::/0 without new bits, where the index is 0.
        let offset = index.checked_shl(shift).unwrap_or(0);
        Ok(Self { first: self.first | offset, length, ..self })
    }

    /// The first block of prefix length `length` that starts at or after `from` inside this block.
    pub(super) fn allocate(self, from: Option<u128>, length: u32) -> Option<Self> {
        let mask = low_bits(self.family.bits().checked_sub(length)?);
        let from = from?;
        // Rounds up to a multiple of the block size; an overflow means that no address is left.
        let first = from.checked_add(mask)? & !mask;
        (first <= self.last() && first | mask <= self.last()).then_some(Self { first, length, ..self })
    }
}

/// A host or subnet number as the author wrote it, which may be negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordinal {
    /// The number itself, or for negative numbers how far it is before the last one.
    pub(super) magnitude: u128,
    /// Whether it counts from the end.
    pub(super) from_end: bool,
}

impl fmt::Display for Ordinal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from_end, self.magnitude.checked_add(1)) {
            (true, Some(magnitude)) => write!(out, "-{magnitude}"),
            _ => self.magnitude.fmt(out),
        }
    }
}

fn low_bits(count: u32) -> u128 {
    // A shift by the full width of the type would overflow.
    if count >= 128 { u128::MAX } else { (1 << count) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(magnitude: u128) -> Ordinal {
        Ordinal { magnitude, from_end: false }
    }

    #[test]
    fn blocks_lose_their_host_bits_and_keep_their_notation() {
        assert_eq!(parse_block("10.1.2.3/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(parse_block("010.0.0.0/8").unwrap().to_string(), "10.0.0.0/8");
        assert_eq!(parse_block("2001:db8::1/32").unwrap().to_string(), "2001:db8::/32");
        for wrong in ["10.0.0.0", "10.0.0/8", "10.0.0.0/33", "10.0.0.256/8", "::/129", "a/8", "/", "10.0.0.0/+8"] {
            assert!(parse_block(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn subnets_and_hosts_are_numbered_from_both_ends() {
        let block = parse_block("10.0.0.0/8").unwrap();
        assert_eq!(block.subnet(8, at(2)).unwrap().to_string(), "10.2.0.0/16");
        assert_eq!(block.subnet(8, Ordinal { magnitude: 0, from_end: true }).unwrap().to_string(), "10.255.0.0/16");
        assert!(block.subnet(8, at(256)).is_err());
        assert!(block.subnet(25, at(0)).is_err());
        assert_eq!(block.host(Ordinal { magnitude: 1, from_end: true }).unwrap().to_string(), "10.255.255.254");
        assert_eq!(
            parse_block("0.0.0.0/0").unwrap().subnet(32, at(u128::from(u32::MAX))).unwrap().to_string(),
            "255.255.255.255/32"
        );
        // The block numbers need all 128 bits here, where a careless shift or mask overflows.
        assert_eq!(parse_block("::/0").unwrap().subnet(128, at(u128::MAX)).unwrap().length, 128);
    }

    #[test]
    fn allocation_aligns_and_ends_with_the_block() {
        let block = parse_block("10.0.0.0/30").unwrap();
        assert_eq!(block.allocate(Some(block.first + 1), 31).unwrap().to_string(), "10.0.0.2/31");
        assert_eq!(block.allocate(Some(block.first + 3), 31), None);
        let top = parse_block("255.255.255.255/32").unwrap();
        // The search starts past the last address, as it does after a block that ends there.
        assert_eq!(top.allocate(Some(u128::from(u32::MAX) + 1), 32), None);
    }
}
