//! Deterministic mutations.
use prismux_endpoint::random::RandomStream;
use prismux_wire::checksum::checksum;

/// Longest input that is tried.
const MAX_BYTES: usize = 4096;
/// Values at which comparisons and lengths go wrong.
const INTERESTING: &[u32] =
    &[0, 1, 2, 3, 4, 7, 8, 15, 16, 20, 40, 60, 127, 128, 255, 256, 1460, 32_767, 32_768, 65_535];

/// How inputs of a target are mutated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutator {
    /// Any bytes.
    Bytes,
    /// IP packets: an IPv4 header's checksum is mostly repaired afterwards, or nothing would get past it.
    Packet,
    /// Text: words, numbers and lines are exchanged, repeated and dropped.
    Text,
}

impl Mutator {
    /// A mutation of `seed`; `other` is a second seed to cross it with.
    pub fn mutate(self, seed: &[u8], other: &[u8], random: &mut RandomStream) -> Vec<u8> {
        let mut input = seed.to_vec();
        for _ in 0..=random.below(4) {
            if self == Self::Text && random.chance(0.7) {
                mutate_text(&mut input, other, random);
            } else {
                mutate_bytes(&mut input, other, random);
            }
        }
        input.truncate(MAX_BYTES);
        if self == Self::Packet && random.chance(0.8) {
            repair_ipv4_checksum(&mut input);
        }
        input
    }
}

/// A position in `input`, its end included.
fn place(input: &[u8], random: &mut RandomStream) -> usize {
    random.below(input.len() as u64 + 1) as usize
}

fn mutate_bytes(input: &mut Vec<u8>, other: &[u8], random: &mut RandomStream) {
    let at = place(input, random);
    let value = INTERESTING[random.below(INTERESTING.len() as u64) as usize];
    let overwrite = |input: &mut Vec<u8>, bytes: &[u8]| {
        for (place, byte) in input[at..].iter_mut().zip(bytes) {
            *place = *byte;
        }
    };
    match random.below(9) {
        0 | 1 => {
            let flip = 1 << random.below(8);
            input[at..].iter_mut().take(1).for_each(|byte| *byte ^= flip);
        }
        2 => overwrite(input, &[random.next_u64() as u8]),
        3 => overwrite(input, &[value as u8]),
        4 => overwrite(input, &(value as u16).to_be_bytes()),
        5 => overwrite(input, &(random.next_u64() as u32).to_be_bytes()),
        6 => input.truncate(at),
        7 => {
            // Repeat, drop or move a stretch.
            let end = (at + random.below(40) as usize).min(input.len());
            let stretch: Vec<u8> = input[at..end].to_vec();
            if random.chance(0.5) {
                input.drain(at..end);
            }
            let to = place(input, random);
            input.splice(to..to, stretch);
        }
        _ => {
            let from = place(other, random);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
}

/// Exchanges words of a text.
fn mutate_text(input: &mut Vec<u8>, other: &[u8], random: &mut RandomStream) {
    let text = String::from_utf8_lossy(input).into_owned();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let other = String::from_utf8_lossy(other);
    let words: Vec<&str> =
        text.split_whitespace().chain(other.split_whitespace()).chain(EXTREMES.iter().copied()).collect();
    if lines.is_empty() {
        return;
    }
    let line = random.below(lines.len() as u64) as usize;
    let pick = |random: &mut RandomStream| words[random.below(words.len() as u64) as usize];
    let mut lines: Vec<String> = lines.into_iter().map(str::to_string).collect();
    match random.below(4) {
        0 => drop(lines.remove(line)),
        1 => lines.insert(line, lines[line].clone()),
        2 => {
            let to = random.below(lines.len() as u64) as usize;
            lines.swap(line, to);
        }
        _ => {
            let old: Vec<&str> = lines[line].split(' ').collect();
            let word = random.below(old.len() as u64) as usize;
            let new: Vec<&str> =
                old.iter().enumerate().map(|(k, w)| if k == word { pick(random) } else { w }).collect();
            lines[line] = new.join(" ");
        }
    }
    *input = lines.concat().into_bytes();
}

/// Words that no well-formed text has but somebody will try.
const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "\"0 s\"",
    "\"0 bit/s\"",
    "\"0 B\"",
    "\"18446744073709551615 B\"",
    "\"1e400 ms\"",
    "\"NaN s\"",
    "\"-5 ms\"",
    "1e308",
    "nan",
    "inf",
    "[]",
    "{}",
    "\"\"",
    "\"ä\u{0}\"",
    "\"for ever\"",
    "\"100 %\"",
    "\"101 %\"",
    "true",
    "\"999999999 Gbit/s\"",
    "\"9999999 h\"",
    "\"1 ns\"",
    "=",
    "[[",
    "]]",
    "#",
];

/// Writes the right checksum into an IPv4 header, if there is one.
fn repair_ipv4_checksum(packet: &mut [u8]) {
    let Some(first) = packet.first() else { return };
    let header_bytes = usize::from(first & 0x0f) * 4;
    if first >> 4 == 4 && header_bytes >= 20 && packet.len() >= header_bytes {
        packet[10..12].fill(0);
        let sum = checksum(&packet[..header_bytes]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}
