use super::*;

#[test]
fn a_seed_repeats_its_stream_and_another_has_another() {
    let first = |seed| Entropy::from_seed([seed; SEED_BYTES]).bytes::<64>();
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
    let mut stream = Entropy::from_seed([1; SEED_BYTES]);
    let parts = [
        stream.bytes::<10>().to_vec(),
        stream.number().to_be_bytes().to_vec(),
        stream.bytes::<46>().to_vec(),
    ];
    assert_eq!(parts.concat(), first(1), "however it is divided");
}

#[test]
fn the_stream_is_chacha20_of_zeros() {
    // The keystream under an all-zero key and nonce (RFC 8439, appendix A.1, test vector 1).
    let begins = [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90];
    assert_eq!(Entropy::from_seed([0; SEED_BYTES]).bytes(), begins);
}
