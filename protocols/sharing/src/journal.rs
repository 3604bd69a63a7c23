//! The lines in which accounts are kept: one for each change, so that what a file has at its end counts, and one that
//! was torn by a power cut is known by its checksum.
//!
//! `2026-11-23 wan0 192.0.2.1:51820 1200000 34000 9ae1c2b7`: day, link, peer, bytes towards the receivers and from them
//! on this day so far, and the CRC-32 (IEEE 802.3) of all that with the space behind it.
use crate::ledger::{Account, Carried, Entry, Ledger};
use alloc::format;
use alloc::string::String;

/// An entry as a line, with its end.
pub fn line(entry: &Entry) -> String {
    let Entry { day, account, carried } = entry;
    let Carried { forward_bytes, return_bytes } = carried;
    let text = format!("{day} {} {} {forward_bytes} {return_bytes} ", account.link(), account.peer());
    format!("{text}{:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// An entry from a line without its end; `None` for one that is torn or changed.
pub fn parse(line: &str) -> Option<Entry> {
    let at = line.rfind(' ')?.checked_add(1)?;
    let (text, sum) = (line.get(..at)?, line.get(at..)?);
    if sum.len() != 8 || u32::from_str_radix(sum, 16) != Ok(crc32fast::hash(text.as_bytes())) {
        return None;
    }
    let mut words = text.split(' ');
    let (day, link, peer) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
    let (forward_bytes, return_bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let account = Account::new(link, peer);
    (words.next() == Some("") && words.next().is_none()).then_some(Entry {
        day,
        account,
        carried: Carried { forward_bytes, return_bytes },
    })
}

/// The accounts of a file, and how many of its lines were torn. Of an account's lines for a day the last counts.
pub fn read(text: &str) -> (Ledger, usize) {
    let (mut ledger, mut torn_lines) = (Ledger::default(), 0);
    for line in text.lines() {
        match parse(line) {
            Some(entry) => ledger.set(entry),
            None => torn_lines += 1,
        }
    }
    (ledger, torn_lines)
}

/// All accounts, each in one line.
pub fn whole(ledger: &Ledger) -> String {
    ledger.entries().map(|entry| line(&entry)).collect()
}
