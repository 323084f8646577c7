package features

import (
	"bytes"
	"encoding/binary"
)

// orientation returns the EXIF orientation of a JPEG file, 1..8; 1 (upright) if there is none or it
// is invalid.
func orientation(b []byte) int {
	exif := exifOf(b)
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(exif[:2]) {
	case "II":
	case "MM":
		order = binary.BigEndian
	default:
		return 1
	}
	// The first directory: a count, then entries of 12 bytes: tag, type, count, value.
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 1
	}
	directory := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(directory) < 12 {
			return 1
		}
		const orientationTag, short = 0x0112, 3
		if order.Uint16(directory) == orientationTag && order.Uint16(directory[2:]) == short {
			if v := order.Uint16(directory[8:]); 1 <= v && v <= 8 {
				return int(v)
			}
			return 1
		}
		directory = directory[12:]
	}
	return 1
}

// exifOf returns the TIFF structure in the first EXIF segment of a JPEG file, or nil.
func exifOf(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte("\xff\xd8")) {
		return nil
	}
	for b = b[2:]; len(b) >= 4 && b[0] == 0xff; {
		if b[1] == 0xff { // a fill byte
			b = b[1:]
			continue
		}
		marker, length := b[1], int(binary.BigEndian.Uint16(b[2:]))
		if marker == 0xda || length < 2 || 2+length > len(b) { // the image data begin
			return nil
		}
		if exif, ok := bytes.CutPrefix(b[4:2+length], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return exif
		}
		b = b[2+length:]
	}
	return nil
}
