//! Codes that people compare: whoever says the same code means the same keys and addresses.
use prismux_community::lending::{Ask, Malformed};
use prismux_sealed::PublicKey;
use sha2::{Digest, Sha256};

/// Letters and digits that are not taken for one another (Crockford's base 32).
const LETTERS: [char; 32] = [
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'J', 'K', 'M',
    'N', 'P', 'Q', 'R', 'S', 'T', 'V', 'W', 'X', 'Y', 'Z',
];
/// Of the hash, so many bytes: 80 bits, of 16 letters. To find another key with a given code takes 2^80 tries.
const BYTES: usize = 10;

/// The code of a lender, by which askers know it.
pub fn of_lender(name: &str, key: PublicKey) -> String {
    of("lender", &[name.as_bytes(), &[0], &key.0].concat())
}

/// The code of an ask, by which the lender's owner says yes.
///
/// # Errors
/// An ask that makes no sense.
pub fn of_ask(ask: &Ask) -> Result<String, Malformed> {
    Ok(of("ask", &ask.content()?))
}

/// Whether two codes are one, however they are typed.
pub fn is_same(one: &str, other: &str) -> bool {
    let letters = |code: &str| code.to_ascii_uppercase().replace(['-', ' '], "");
    letters(one) == letters(other)
}

fn of(what: &str, content: &[u8]) -> String {
    let hash =
        Sha256::new().chain_update(b"prismux ").chain_update(what).chain_update([0]).chain_update(content);
    let hash = hash.finalize();
    let number = hash.iter().take(BYTES).fold(0_u128, |number, &byte| number << 8 | u128::from(byte));
    let letter =
        |place: usize| LETTERS.get((number >> (5 * place)) as usize & 31).copied().unwrap_or_default();
    let letters: Vec<char> = (0..BYTES * 8 / 5).rev().map(letter).collect();
    letters.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::{is_same, of_ask, of_lender};
    use prismux_community::lending::{Ask, Receiver};
    use prismux_sealed::PublicKey;

    /// Of a changed name, key, place or range the code is another one.
    #[test]
    fn a_code_stands_for_all_that_is_said() {
        let code = of_lender("kitchen", PublicKey([9; 32]));
        assert_eq!(code.len(), 19, "{code}");
        assert!(is_same(&code.to_lowercase().replace('-', " "), &code));
        let receivers = vec![Receiver { address: "10.77.0.2".parse().unwrap(), length: 32 }];
        let (name, proxy) = ("ann".to_owned(), "192.0.2.1:51820".parse().unwrap());
        let ask = Ask { name, proxy, proxy_key: [7; 32], receivers };
        let wider = vec![Receiver { length: 24, ..ask.receivers[0] }];
        let others = [
            Ask { name: "bob".to_owned(), ..ask.clone() },
            Ask { proxy: "192.0.2.2:51820".parse().unwrap(), ..ask.clone() },
            Ask { proxy_key: [8; 32], ..ask.clone() },
            Ask { receivers: wider, ..ask.clone() },
        ];
        let mut codes =
            vec![code, of_lender("kitchen", PublicKey([8; 32])), of_lender("attic", PublicKey([9; 32]))];
        codes.extend(others.iter().chain([&ask]).map(|ask| of_ask(ask).unwrap()));
        for (index, code) in codes.iter().enumerate() {
            assert!(codes.iter().skip(index + 1).all(|other| !is_same(code, other)), "{codes:?}");
        }
    }
}
