# ends: error MemoryError | timeout | killed
import io
import zipfile

packed = io.BytesIO()
with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
    for n in range(5):
        archive.writestr(zipfile.ZipInfo(str(n)), bytes(60_000_000), zipfile.ZIP_DEFLATED)
with zipfile.ZipFile(packed) as archive:
    kept = [archive.read(name) for name in archive.namelist()]
