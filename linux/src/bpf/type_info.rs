//! What the running kernel's structures and functions look like: its BTF ("BPF type format"), as far as programs need
//! it. Offsets are looked up when a program is made, so that one build serves all kernels.
use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

/// Where the kernel shows it.
pub const OF_THE_KERNEL: &str = "/sys/kernel/btf/vmlinux";

const MAGIC: u16 = 0xeb9f;
const HEADER_BYTES: usize = 24;

/// Kinds of types, as the format numbers them.
mod kind {
    pub const INT: u32 = 1;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const UNION: u32 = 5;
    pub const ENUM: u32 = 6;
    pub const FUNCTION: u32 = 12;
    pub const PROTOTYPE: u32 = 13;
    pub const VARIABLE: u32 = 14;
    pub const SECTION: u32 = 15;
    pub const DECLARATION_TAG: u32 = 17;
    pub const ENUM_64: u32 = 19;
}

/// Type information, indexed by what programs ask for.
#[derive(Debug, Clone, Default)]
pub struct TypeInfo {
    functions: HashMap<String, u32>,
    structures: HashMap<String, u32>,
    /// Size and members of structures and unions, by type.
    contents: HashMap<u32, Contents>,
}

#[derive(Debug, Clone, Default)]
struct Contents {
    bytes: u32,
    members: Vec<Member>,
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    name: String,
    /// Its type.
    type_id: u32,
    bit_offset: u32,
    /// How many bits it has; 0 for one that is no bit field.
    bits: u32,
}

/// Where a value lies in a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// From its beginning.
    pub bit_offset: u32,
    /// How many bits it has; 0 for one that is no bit field.
    pub bits: u32,
}

impl Position {
    /// The byte where it begins, as an instruction has it.
    pub fn offset(self) -> Option<i16> {
        (self.bit_offset.is_multiple_of(8)).then(|| i16::try_from(self.bit_offset / 8).ok()).flatten()
    }
}

impl TypeInfo {
    /// That of the running kernel.
    ///
    /// # Errors
    /// When the kernel shows none, or one that cannot be read.
    pub fn of_the_kernel() -> io::Result<Self> {
        let bytes = fs::read(Path::new(OF_THE_KERNEL))?;
        Self::parse(&bytes).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    /// Reads type information; `None` if it is malformed or of the other byte order.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if u16::from_ne_bytes(*bytes.first_chunk()?) != MAGIC {
            return None;
        }
        let field = |at: usize| word(bytes, at).map(|value| value as usize);
        let header = field(4)?;
        let types_at = header.checked_add(field(8)?)?;
        let types = bytes.get(types_at..types_at.checked_add(field(12)?)?)?;
        let strings_at = header.checked_add(field(16)?)?;
        let strings = bytes.get(strings_at..strings_at.checked_add(field(20)?)?)?;
        let mut result = Self::default();
        let (mut at, mut id) = (0, 1);
        while at < types.len() {
            at += result.take(id, types.get(at..)?, strings)?;
            id += 1;
        }
        Some(result)
    }

    /// Takes in the type at the beginning of `bytes`; returns its length.
    fn take(&mut self, id: u32, bytes: &[u8], strings: &[u8]) -> Option<usize> {
        let (name, about, size) = (word(bytes, 0)?, word(bytes, 4)?, word(bytes, 8)?);
        let (count, kind) = ((about & 0xffff) as usize, about >> 24 & 0x1f);
        let more = match kind {
            kind::INT | kind::VARIABLE | kind::DECLARATION_TAG => 4,
            kind::ARRAY => 12,
            kind::STRUCT | kind::UNION | kind::SECTION | kind::ENUM_64 => 12 * count,
            kind::ENUM | kind::PROTOTYPE => 8 * count,
            _ => 0,
        };
        match kind {
            kind::FUNCTION => {
                self.functions.insert(text(strings, name)?, id);
            }
            kind::STRUCT | kind::UNION => {
                let has_bit_fields = about >> 31 == 1;
                let member = |n: usize| {
                    let at = 12 + 12 * n;
                    let offset = word(bytes, at + 8)?;
                    let (bit_offset, bits) =
                        if has_bit_fields { (offset & 0x00ff_ffff, offset >> 24) } else { (offset, 0) };
                    Some(Member {
                        name: text(strings, word(bytes, at)?)?,
                        type_id: word(bytes, at + 4)?,
                        bit_offset,
                        bits,
                    })
                };
                let members = (0..count).map(member).collect::<Option<_>>()?;
                self.contents.insert(id, Contents { bytes: size, members });
                self.structures.insert(text(strings, name)?, id);
            }
            _ => {}
        }
        Some(12 + more)
    }

    /// The number of a function.
    pub fn function(&self, name: &str) -> Option<u32> {
        self.functions.get(name).copied()
    }

    /// The number of a structure.
    pub fn structure(&self, name: &str) -> Option<u32> {
        self.structures.get(name).copied()
    }

    /// The size of a structure.
    pub fn bytes(&self, structure: u32) -> Option<usize> {
        Some(self.contents.get(&structure)?.bytes as usize)
    }

    /// Which member of a structure has this name, counted from 0.
    pub fn member_index(&self, structure: u32, name: &str) -> Option<u32> {
        let members = &self.contents.get(&structure)?.members;
        members.iter().position(|member| member.name == name).map(|index| index as u32)
    }

    /// Where a structure has what is named by the path, as `inet_conn.icsk_ca_state`; members without a name are looked
    /// into.
    pub fn position(&self, structure: u32, path: &str) -> Option<Position> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        self.contents.get(&structure)?.members.iter().find_map(|member| {
            let inner = match (member.name == first, rest) {
                (true, None) => Position { bit_offset: 0, bits: member.bits },
                (true, Some(rest)) => self.position(member.type_id, rest)?,
                (false, _) if member.name.is_empty() => self.position(member.type_id, path)?,
                (false, _) => return None,
            };
            Some(Position { bit_offset: member.bit_offset + inner.bit_offset, bits: inner.bits })
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

fn text(strings: &[u8], at: u32) -> Option<String> {
    let rest = strings.get(at as usize..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

/// Type information made here, and the types in it of a map's key and value.
pub(super) struct Made {
    pub(super) bytes: Vec<u8>,
    pub(super) key: u32,
    pub(super) value: u32,
}

/// Of a map with an int as key and so many words as value.
pub(super) fn words(count: u32) -> Made {
    let strings = b"\0int\0u32\0";
    let (int_name, word_name) = (1, 5);
    let signed = 1 << 24;
    let types: [u32; 14] = [
        // 1: int, 2: u32, 3: u32[count], indexed by int.
        [int_name, kind::INT << 24, 4, signed | 32],
        [word_name, kind::INT << 24, 4, 32],
        [0, kind::ARRAY << 24, 0, 2],
    ]
    .concat()
    .into_iter()
    .chain([1, count])
    .collect::<Vec<u32>>()
    .try_into()
    .unwrap_or_default();
    let (types_bytes, strings_bytes) = (types.len() as u32 * 4, strings.len() as u32);
    let mut bytes = Vec::with_capacity(HEADER_BYTES + types.len() * 4 + strings.len());
    bytes.extend(MAGIC.to_ne_bytes());
    bytes.extend([1, 0]);
    for field in [HEADER_BYTES as u32, 0, types_bytes, types_bytes, strings_bytes] {
        bytes.extend(field.to_ne_bytes());
    }
    types.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(strings);
    Made { bytes, key: 1, value: 3 }
}

#[cfg(test)]
mod tests;
