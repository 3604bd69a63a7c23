//! Keys, and what follows from them: tokens, initial data sequence numbers and proofs (RFC 8684 section 3).
use core::net::IpAddr;
use hmac::digest::KeyInit;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// A key of one side, drawn at random for each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(pub u64);

impl Key {
    fn hash(self) -> [u8; 32] {
        Sha256::digest(self.0.to_be_bytes()).into()
    }

    /// What further subflows name the connection by: the first 32 bits of the key's SHA-256 (section 3.2).
    pub fn token(self) -> u32 {
        let [a, b, c, d, ..] = self.hash();
        u32::from_be_bytes([a, b, c, d])
    }

    /// IDSN, the number before the first byte's: the last 64 bits of the key's SHA-256 (section 3.1).
    pub fn initial_data_sequence(self) -> u64 {
        let hash = self.hash();
        let mut last = [0; 8];
        last.copy_from_slice(hash.split_at(24).1);
        u64::from_be_bytes(last)
    }
}

/// HMAC-SHA256 under the key of the side that proves itself, followed by that of the other.
fn hmac(own: Key, other: Key, parts: &[&[u8]]) -> [u8; 32] {
    let mut key = [0; 64];
    let (first, rest) = key.split_at_mut(8);
    first.copy_from_slice(&own.0.to_be_bytes());
    rest.split_at_mut(8).0.copy_from_slice(&other.0.to_be_bytes());
    // A key of one block is used as it is; zeros behind it change nothing (RFC 2104 section 2).
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&key.into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The proof in MP_JOIN's third segment: 160 bits (section 3.2).
pub(crate) fn join_proof(own: Key, other: Key, own_nonce: u32, other_nonce: u32) -> [u8; 20] {
    let whole = hmac(own, other, &[&own_nonce.to_be_bytes(), &other_nonce.to_be_bytes()]);
    let mut proof = [0; 20];
    proof.copy_from_slice(whole.split_at(20).0);
    proof
}

/// The proof in MP_JOIN's SYN-ACK: the first 64 bits (section 3.2).
pub(crate) fn short_join_proof(own: Key, other: Key, own_nonce: u32, other_nonce: u32) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = join_proof(own, other, own_nonce, other_nonce);
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The proof in ADD_ADDR: the last 64 bits (section 3.4.1).
pub(crate) fn address_proof(own: Key, other: Key, id: u8, address: IpAddr, port: u16) -> u64 {
    let port = port.to_be_bytes();
    let whole = match address {
        IpAddr::V4(address) => hmac(own, other, &[&[id], &address.octets(), &port]),
        IpAddr::V6(address) => hmac(own, other, &[&[id], &address.octets(), &port]),
    };
    let mut last = [0; 8];
    last.copy_from_slice(whole.split_at(24).1);
    u64::from_be_bytes(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with Python's `hashlib` and `hmac` over the same octets.
    #[test]
    fn token_number_and_proofs_are_those_of_sha_256() {
        let (a, b) = (Key(0x0001_0203_0405_0607), Key(0x0809_0a0b_0c0d_0e0f));
        assert_eq!(a.token(), 0x8a85_1ff8);
        assert_eq!(a.initial_data_sequence(), 0xe3db_22c6_785a_0d45);
        assert_eq!(short_join_proof(a, b, 1, 2), 0xdc73_f688_5eed_566f);
        assert_eq!(address_proof(a, b, 3, IpAddr::from([192, 0, 2, 1]), 0), 0xe683_d29b_610b_7779);
    }
}
