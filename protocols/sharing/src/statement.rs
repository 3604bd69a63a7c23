//! Statements of what was carried on a day, signed by who lent and by who borrowed.
//!
//! What is signed, [`Statement::bytes`], has one form, so that anybody can verify it: [`LABEL`]; the lender's static
//! key and the key that its signatures are verified with, 32 bytes each; the same of the borrower; the day, as days
//! since 1970; the sequence; bytes towards the receivers and from them. Integers are big-endian, of 4 bytes for the
//! day and 8 for the others. Signatures are Ed25519 (RFC 8032), over exactly these bytes.
use crate::calendar::Day;
use crate::ledger::Carried;
use core::fmt;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};

/// Bytes of a key, static or for signatures.
pub const KEY_BYTES: usize = 32;

/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// What statements begin with: no signature under anything else passes for one.
pub const LABEL: &[u8; 20] = b"prismux statement 1\n";

/// Bytes of a statement.
pub const STATEMENT_BYTES: usize = LABEL.len() + 4 * KEY_BYTES + 4 + 3 * 8;

/// A signature as it travels.
pub type SignatureBytes = [u8; SIGNATURE_BYTES];

/// One of the two who sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Party {
    /// Its static key, by which its sessions know it.
    pub key: [u8; KEY_BYTES],
    /// What its signatures are verified with.
    pub verifying: [u8; KEY_BYTES],
}

/// Who signs, and with what.
#[derive(Clone)]
pub struct Signer {
    party: Party,
    signing: SigningKey,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(..)")
    }
}

impl Signer {
    /// What the key for signatures is derived under from a static key.
    pub const PURPOSE: &'static str = "prismux statements, Ed25519";

    /// Signs as the owner of a static key, with a `secret` that is derived from that key's private half for
    /// [`Signer::PURPOSE`].
    pub fn new(key: [u8; KEY_BYTES], secret: &[u8; KEY_BYTES]) -> Self {
        let signing = SigningKey::from_bytes(secret);
        Self { party: Party { key, verifying: signing.verifying_key().to_bytes() }, signing }
    }

    /// Who signs.
    pub const fn party(&self) -> Party {
        self.party
    }

    /// Its signature of a statement.
    pub fn sign(&self, statement: &Statement) -> SignatureBytes {
        self.signing.sign(&statement.bytes()).to_bytes()
    }
}

/// On a day at least so much was carried by the lender's link for the borrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Whose link carried it.
    pub lender: Party,
    /// For whom.
    pub borrower: Party,
    /// The day, by the lender's calendar.
    pub day: Day,
    /// Of two statements of both for one day the greater counts.
    pub sequence: u64,
    /// How much, on this day until then.
    pub carried: Carried,
}

/// Whose signature is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forged {
    /// The lender has not signed this.
    Lender,
    /// The borrower has not signed this.
    Borrower,
}

impl fmt::Display for Forged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self {
            Self::Lender => "lender",
            Self::Borrower => "borrower",
        };
        write!(f, "the {who}'s signature is not of this statement")
    }
}

impl core::error::Error for Forged {}

impl Statement {
    /// What is signed.
    pub fn bytes(&self) -> [u8; STATEMENT_BYTES] {
        let mut bytes = [0; STATEMENT_BYTES];
        let (day, sequence) = (self.day.number().to_be_bytes(), self.sequence.to_be_bytes());
        let Carried { forward_bytes, return_bytes } = self.carried;
        let carried = [forward_bytes, return_bytes].map(u64::to_be_bytes);
        let [lender, borrower] = [&self.lender, &self.borrower];
        let parts: [&[u8]; 9] = [
            LABEL,
            &lender.key,
            &lender.verifying,
            &borrower.key,
            &borrower.verifying,
            &day,
            &sequence,
            &carried[0],
            &carried[1],
        ];
        for (byte, value) in bytes.iter_mut().zip(parts.into_iter().flatten()) {
            *byte = *value;
        }
        bytes
    }

    /// Whether the owner of `party` has signed this.
    pub fn is_signed_by(&self, party: &Party, signature: &SignatureBytes) -> bool {
        let key = VerifyingKey::from_bytes(&party.verifying);
        // Strict: no key of small order, and one signature for each statement and key.
        key.is_ok_and(|key| key.verify_strict(&self.bytes(), &Signature::from_bytes(signature)).is_ok())
    }
}

/// A statement with both signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// What both say.
    pub statement: Statement,
    /// The lender's signature.
    pub by_lender: SignatureBytes,
    /// The borrower's signature.
    pub by_borrower: SignatureBytes,
}

impl Signed {
    /// Checks both signatures.
    ///
    /// # Errors
    /// [`Forged`]: whose is wrong.
    pub fn verify(&self) -> Result<(), Forged> {
        let Self { statement, by_lender, by_borrower } = self;
        if !statement.is_signed_by(&statement.lender, by_lender) {
            return Err(Forged::Lender);
        }
        statement.is_signed_by(&statement.borrower, by_borrower).then_some(()).ok_or(Forged::Borrower)
    }
}
