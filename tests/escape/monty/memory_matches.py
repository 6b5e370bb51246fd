import re

re.findall('(.)(.)(.)(.)(.)', 'abcde' * 5_000_000)
