//! The lines in which counts and statements are kept, each with a checksum, as those of accounts ([`crate::journal`]):
//! of what is said about one thing the last line counts, and of statements for one day the one with the greatest
//! sequence.
//!
//! * `lent DAY BORROWER DOWN UP CRC`: what a lender has counted.
//! * `unsigned LENDER DOWN UP CRC`: what a borrower has counted and not signed for.
//! * `promised DAY LENDER SEQUENCE DOWN UP CRC`: what a borrower has signed.
//! * `statement DAY SEQUENCE DOWN UP LENDER VERIFYING BORROWER VERIFYING SIGNATURE SIGNATURE CRC`: what both have.
//!
//! Keys and signatures are in base64, the lender's before the borrower's.
use crate::calendar::Day;
use crate::ledger::Carried;
use crate::statement::{KEY_BYTES, Party, Signed, Statement};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::str::{FromStr, Split};

type Key = [u8; KEY_BYTES];

/// What a borrower has signed for a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promise {
    /// The sequence of the last statement.
    pub sequence: u64,
    /// What it says.
    pub carried: Carried,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// What a lender has counted on a day.
    Lent {
        /// For whom.
        borrower: Key,
        /// The day.
        day: Day,
        /// How much.
        carried: Carried,
    },
    /// What a borrower has counted and not signed for.
    Unsigned {
        /// Whose link carried it.
        lender: Key,
        /// How much.
        carried: Carried,
    },
    /// What a borrower has signed for a day.
    Promised {
        /// Whose link carried it.
        lender: Key,
        /// The day.
        day: Day,
        /// The statement.
        promise: Promise,
    },
    /// What both have signed.
    Statement(Box<Signed>),
}

impl Record {
    /// The day that it is of.
    pub const fn day(&self) -> Option<Day> {
        match self {
            Self::Lent { day, .. } | Self::Promised { day, .. } => Some(*day),
            Self::Statement(signed) => Some(signed.statement.day),
            Self::Unsigned { .. } => None,
        }
    }

    /// As a line, with its end.
    pub fn line(&self) -> String {
        let bytes = |carried: &Carried| format!("{} {}", carried.forward_bytes, carried.return_bytes);
        let text = match self {
            Self::Lent { borrower, day, carried } => {
                format!("lent {day} {} {} ", base64(borrower), bytes(carried))
            }
            Self::Unsigned { lender, carried } => format!("unsigned {} {} ", base64(lender), bytes(carried)),
            Self::Promised { lender, day, promise: Promise { sequence, carried } } => {
                format!("promised {day} {} {sequence} {} ", base64(lender), bytes(carried))
            }
            Self::Statement(signed) => {
                let Signed { statement, by_lender, by_borrower } = &**signed;
                let Statement { lender, borrower, day, sequence, carried } = statement;
                let keys = [lender.key, lender.verifying, borrower.key, borrower.verifying];
                let [a, b, c, d] = keys.map(|key| base64(&key));
                let (signatures, carried) = ([base64(by_lender), base64(by_borrower)], bytes(carried));
                format!("statement {day} {sequence} {carried} {a} {b} {c} {d} {} ", signatures.join(" "))
            }
        };
        format!("{text}{:08x}\n", crc32fast::hash(text.as_bytes()))
    }

    /// From a line without its end; `None` for one that is torn or changed. Signatures are not verified.
    pub fn parse(line: &str) -> Option<Self> {
        let at = line.rfind(' ')?.checked_add(1)?;
        let (text, sum) = (line.get(..at)?, line.get(at..)?);
        if sum.len() != 8 || u32::from_str_radix(sum, 16) != Ok(crc32fast::hash(text.as_bytes())) {
            return None;
        }
        let mut words = Words(text.split(' '));
        let record = match words.0.next()? {
            "lent" => {
                let (day, borrower) = (words.number()?, words.bytes()?);
                Self::Lent { borrower, day, carried: words.carried()? }
            }
            "unsigned" => Self::Unsigned { lender: words.bytes()?, carried: words.carried()? },
            "promised" => {
                let (day, lender, sequence) = (words.number()?, words.bytes()?, words.number()?);
                let promise = Promise { sequence, carried: words.carried()? };
                Self::Promised { lender, day, promise }
            }
            "statement" => {
                let (day, sequence, carried) = (words.number()?, words.number()?, words.carried()?);
                let lender = Party { key: words.bytes()?, verifying: words.bytes()? };
                let borrower = Party { key: words.bytes()?, verifying: words.bytes()? };
                let statement = Statement { lender, borrower, day, sequence, carried };
                let (by_lender, by_borrower) = (words.bytes()?, words.bytes()?);
                Self::Statement(Box::new(Signed { statement, by_lender, by_borrower }))
            }
            _ => return None,
        };
        (words.0.next() == Some("") && words.0.next().is_none()).then_some(record)
    }
}

/// Bytes as text.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes from text; `None` where there are more or less of them.
pub fn from_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

struct Words<'a>(Split<'a, char>);

impl Words<'_> {
    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.0.next()?.parse().ok()
    }

    fn carried(&mut self) -> Option<Carried> {
        Some(Carried { forward_bytes: self.number()?, return_bytes: self.number()? })
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        from_base64(self.0.next()?)
    }
}

/// Everything that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Records {
    lent: BTreeMap<(Key, Day), Carried>,
    unsigned: BTreeMap<Key, Carried>,
    promised: BTreeMap<(Key, Day), Promise>,
    statements: BTreeMap<(Party, Party, Day), Signed>,
}

impl Records {
    /// Those of a file, and how many of its lines were torn.
    pub fn read(text: &str) -> (Self, usize) {
        let (mut records, mut torn_lines) = (Self::default(), 0);
        for line in text.lines() {
            match Record::parse(line) {
                Some(record) => records.note(record),
                None => torn_lines += 1,
            }
        }
        (records, torn_lines)
    }

    /// Takes note of one more.
    pub fn note(&mut self, record: Record) {
        match record {
            Record::Lent { borrower, day, carried } => {
                self.lent.insert((borrower, day), carried);
            }
            Record::Unsigned { lender, carried } => {
                self.unsigned.insert(lender, carried);
            }
            Record::Promised { lender, day, promise } => {
                self.promised.insert((lender, day), promise);
            }
            Record::Statement(signed) => {
                let Statement { lender, borrower, day, sequence, .. } = signed.statement;
                let place = self.statements.entry((lender, borrower, day)).or_insert(*signed);
                if place.statement.sequence < sequence {
                    *place = *signed;
                }
            }
        }
    }

    /// Forgets what is of a day before `first`.
    pub fn forget_before(&mut self, first: Day) {
        self.lent.retain(|(_, day), _| *day >= first);
        self.promised.retain(|(_, day), _| *day >= first);
        self.statements.retain(|(_, _, day), _| *day >= first);
    }

    /// All of them, each in one line.
    pub fn whole(&self) -> String {
        self.iter().map(|record| record.line()).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lent.len() + self.unsigned.len() + self.promised.len() + self.statements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Record> {
        let lent = self.lent.iter();
        let lent = lent.map(|(&(borrower, day), &carried)| Record::Lent { borrower, day, carried });
        let unsigned = self.unsigned.iter();
        let unsigned = unsigned.map(|(&lender, &carried)| Record::Unsigned { lender, carried });
        let promised = self.promised.iter();
        let promised = promised.map(|(&(lender, day), &promise)| Record::Promised { lender, day, promise });
        let statements = self.statements().map(|&signed| Record::Statement(Box::new(signed)));
        lent.chain(unsigned).chain(promised).chain(statements)
    }

    /// What both have signed, by lender, borrower and day.
    pub fn statements(&self) -> impl Iterator<Item = &Signed> {
        self.statements.values()
    }

    /// Whether whoever keeps this has borrowed from the owner of a static key.
    pub fn has_borrowed_from(&self, lender: &Key) -> bool {
        self.unsigned.contains_key(lender) || self.promises_to(lender).next().is_some()
    }

    /// What a lender has counted for a borrower, by day.
    pub(crate) fn lent_to(&self, borrower: &Key) -> impl Iterator<Item = (Day, Carried)> {
        of(&self.lent, *borrower)
    }

    /// What a borrower has signed for a lender's link, by day.
    pub(crate) fn promises_to(&self, lender: &Key) -> impl Iterator<Item = (Day, Promise)> {
        of(&self.promised, *lender)
    }

    /// What a borrower has counted of a lender's link and not signed for.
    pub(crate) fn unsigned_by(&self, lender: &Key) -> Carried {
        self.unsigned.get(lender).copied().unwrap_or_default()
    }
}

fn of<T: Copy>(all: &BTreeMap<(Key, Day), T>, key: Key) -> impl Iterator<Item = (Day, T)> {
    all.iter().filter(move |((other, _), _)| *other == key).map(|(&(_, day), &value)| (day, value))
}
