use super::{MAX_PAYLOAD_BYTES, RecordError, RecordHeader};
use proptest::prelude::*;

#[test]
fn bytes_lie_where_they_should() {
    let header = RecordHeader { number: 0x0102_0304_0506_0708, payload_bytes: 0x0009_0a0b };
    assert_eq!(header.emit(), [1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 10, 11]);
    assert_eq!(RecordHeader::parse(&header.emit()[..11]), Err(RecordError::Incomplete));
}

proptest! {
    #[test]
    fn parsing_what_was_emitted_gives_the_same(number: u64, payload_bytes in 1..=MAX_PAYLOAD_BYTES) {
        let header = RecordHeader { number, payload_bytes };
        prop_assert_eq!(RecordHeader::parse(&header.emit()), Ok(header));
    }

    #[test]
    fn only_lengths_that_can_be_are_read(bytes: [u8; 12]) {
        match RecordHeader::parse(&bytes) {
            Ok(header) => prop_assert_eq!(header.emit(), bytes),
            Err(error) => {
                let length = u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
                prop_assert_eq!(error, RecordError::Length(length));
            }
        }
    }
}
